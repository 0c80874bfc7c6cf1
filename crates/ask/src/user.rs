//! Names of the accounts that every Windows machine has. Other owners keep their security identifier.

/// The name of a well-known security identifier.
#[must_use]
pub fn well_known(sid: &str) -> Option<&'static str> {
    Some(match sid {
        "S-1-5-7" => "NT AUTHORITY\\ANONYMOUS LOGON",
        "S-1-5-18" => "NT AUTHORITY\\SYSTEM",
        "S-1-5-19" => "NT AUTHORITY\\LOCAL SERVICE",
        "S-1-5-20" => "NT AUTHORITY\\NETWORK SERVICE",
        "S-1-5-32-544" => "BUILTIN\\Administrators",
        _ if sid.starts_with("S-1-5-90-0-") => "Window Manager\\DWM",
        _ if sid.starts_with("S-1-5-96-0-") => "Font Driver Host\\UMFD",
        _ => return None,
    })
}

/// The name of the account that a security identifier stands for; the identifier itself where it is not a well-known one.
#[must_use]
pub fn account(sid: &str) -> &str {
    well_known(sid).unwrap_or(sid)
}
