//! Names of window messages.

/// Number and name of the messages of the system, sorted by number.
const NAMES: &[(i64, &str)] = &[
    (0x01, "WM_CREATE"),
    (0x02, "WM_DESTROY"),
    (0x03, "WM_MOVE"),
    (0x05, "WM_SIZE"),
    (0x06, "WM_ACTIVATE"),
    (0x07, "WM_SETFOCUS"),
    (0x08, "WM_KILLFOCUS"),
    (0x0a, "WM_ENABLE"),
    (0x0c, "WM_SETTEXT"),
    (0x0d, "WM_GETTEXT"),
    (0x0f, "WM_PAINT"),
    (0x10, "WM_CLOSE"),
    (0x11, "WM_QUERYENDSESSION"),
    (0x12, "WM_QUIT"),
    (0x14, "WM_ERASEBKGND"),
    (0x15, "WM_SYSCOLORCHANGE"),
    (0x16, "WM_ENDSESSION"),
    (0x18, "WM_SHOWWINDOW"),
    (0x1a, "WM_SETTINGCHANGE"),
    (0x1c, "WM_ACTIVATEAPP"),
    (0x1f, "WM_CANCELMODE"),
    (0x20, "WM_SETCURSOR"),
    (0x21, "WM_MOUSEACTIVATE"),
    (0x24, "WM_GETMINMAXINFO"),
    (0x2b, "WM_DRAWITEM"),
    (0x46, "WM_WINDOWPOSCHANGING"),
    (0x47, "WM_WINDOWPOSCHANGED"),
    (0x4a, "WM_COPYDATA"),
    (0x4e, "WM_NOTIFY"),
    (0x50, "WM_INPUTLANGCHANGEREQUEST"),
    (0x7b, "WM_CONTEXTMENU"),
    (0x7e, "WM_DISPLAYCHANGE"),
    (0x81, "WM_NCCREATE"),
    (0x82, "WM_NCDESTROY"),
    (0x83, "WM_NCCALCSIZE"),
    (0x84, "WM_NCHITTEST"),
    (0x85, "WM_NCPAINT"),
    (0x86, "WM_NCACTIVATE"),
    (0x87, "WM_GETDLGCODE"),
    (0xa0, "WM_NCMOUSEMOVE"),
    (0xa1, "WM_NCLBUTTONDOWN"),
    (0xa2, "WM_NCLBUTTONUP"),
    (0xff, "WM_INPUT"),
    (0x100, "WM_KEYDOWN"),
    (0x101, "WM_KEYUP"),
    (0x102, "WM_CHAR"),
    (0x104, "WM_SYSKEYDOWN"),
    (0x105, "WM_SYSKEYUP"),
    (0x106, "WM_SYSCHAR"),
    (0x10f, "WM_IME_COMPOSITION"),
    (0x110, "WM_INITDIALOG"),
    (0x111, "WM_COMMAND"),
    (0x112, "WM_SYSCOMMAND"),
    (0x113, "WM_TIMER"),
    (0x114, "WM_HSCROLL"),
    (0x115, "WM_VSCROLL"),
    (0x116, "WM_INITMENU"),
    (0x117, "WM_INITMENUPOPUP"),
    (0x11f, "WM_MENUSELECT"),
    (0x121, "WM_ENTERIDLE"),
    (0x200, "WM_MOUSEMOVE"),
    (0x201, "WM_LBUTTONDOWN"),
    (0x202, "WM_LBUTTONUP"),
    (0x203, "WM_LBUTTONDBLCLK"),
    (0x204, "WM_RBUTTONDOWN"),
    (0x205, "WM_RBUTTONUP"),
    (0x207, "WM_MBUTTONDOWN"),
    (0x208, "WM_MBUTTONUP"),
    (0x20a, "WM_MOUSEWHEEL"),
    (0x20e, "WM_MOUSEHWHEEL"),
    (0x210, "WM_PARENTNOTIFY"),
    (0x213, "WM_ENTERMENULOOP"),
    (0x215, "WM_CAPTURECHANGED"),
    (0x218, "WM_POWERBROADCAST"),
    (0x219, "WM_DEVICECHANGE"),
    (0x231, "WM_ENTERSIZEMOVE"),
    (0x232, "WM_EXITSIZEMOVE"),
    (0x233, "WM_DROPFILES"),
    (0x240, "WM_TOUCH"),
    (0x245, "WM_POINTERUPDATE"),
    (0x246, "WM_POINTERDOWN"),
    (0x247, "WM_POINTERUP"),
    (0x2a1, "WM_MOUSEHOVER"),
    (0x2a3, "WM_MOUSELEAVE"),
    (0x2b1, "WM_WTSSESSION_CHANGE"),
    (0x300, "WM_CUT"),
    (0x301, "WM_COPY"),
    (0x302, "WM_PASTE"),
    (0x312, "WM_HOTKEY"),
    (0x317, "WM_PRINT"),
    (0x319, "WM_APPCOMMAND"),
    (0x31a, "WM_THEMECHANGED"),
    (0x31d, "WM_CLIPBOARDUPDATE"),
    (0x3e0, "WM_DDE_INITIATE"),
];

/// From here on the numbers are each program's own.
const USER: i64 = 0x400;
const APP: i64 = 0x8000;
const REGISTERED: i64 = 0xc000;

/// The name of a message: `WM_PAINT`; of a program's own `WM_USER+0x12`; of others the number.
pub(super) fn name(message: i64) -> String {
    if let Ok(place) = NAMES.binary_search_by_key(&message, |(number, _)| *number) {
        return NAMES[place].1.to_owned();
    }
    match message {
        USER..APP => format!("WM_USER+{:#x}", message - USER),
        APP..REGISTERED => format!("WM_APP+{:#x}", message - APP),
        REGISTERED..=0xffff => format!("registered {message:#x}"),
        _ => format!("{message:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        for (number, expected) in [
            (15, "WM_PAINT"),
            (0x111, "WM_COMMAND"),
            (0x412, "WM_USER+0x12"),
            (0x8001, "WM_APP+0x1"),
            (0xc123, "registered 0xc123"),
            (0x60, "0x60"),
            (-1, "0xffffffffffffffff"),
        ] {
            assert_eq!(name(number), expected);
        }
    }
}
