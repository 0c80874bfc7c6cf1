//! A search path as users write it, and look-ups along it for a binary whose names a stranger chose: the first line is the path, the
//! second the binary's name, the third where it was, the rest says what becomes of each request.

#![no_main]

use std::path::{Component, Path};
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use tracesift_symbols::search::{
    Answer, FileNumber, Image, Lookup, Request, Scope, SearchPath, ShortNames, Step, Surroundings,
};
use tracesift_symbols::{BuildId, Guid, ImageId, PdbId};

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(4, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (path, name, recorded, answers) = (next(), next(), next(), next());
    let names = ShortNames::builtin();
    let mut own = ShortNames::builtin();
    let _ = own.add(path);
    let Ok(path) = SearchPath::parse(path, &names) else { return };
    assert_eq!(SearchPath::parse(&path.to_string(), &names).as_ref(), Ok(&path));
    let surroundings = Surroundings {
        store: "/own".into(),
        roots: vec!["/root".into()],
        beside: vec!["/beside".into()],
        offline: false,
    };
    let scope = Arc::new(Scope::new(&path, &surroundings));
    let pdb = PdbId { name: name.to_owned(), guid: Guid::from_bytes([7; 16]), age: 5 };
    let whole = Image {
        name: name.to_owned(),
        path: Some(recorded.to_owned()),
        pdb: Some(pdb.clone()),
        managed_pdb: Some(pdb.clone()),
        image: Some(ImageId { name: name.to_owned(), time_date_stamp: 6, size: 7 }),
        build_id: Some(BuildId(recorded.as_bytes().to_vec())),
    };
    let without = Image { pdb: None, ..whole.clone() };
    let lookups = [Lookup::new(&whole, &scope), Lookup::new(&without, &scope), Lookup::managed(&pdb, &whole, &scope)];
    for mut lookup in lookups {
        let mut bytes = answers.bytes();
        // Every request is either asked of another place or about a file that was found, and files are found as often as there are bytes.
        for _ in 0..100_000 {
            let Step::Ask(request) = lookup.step() else { break };
            check(&request);
            let file = Answer::File(FileNumber(0));
            lookup.answer(match (bytes.next().unwrap_or(b'-'), &request) {
                (b'f', Request::Open(_) | Request::Download { .. } | Request::Expand(_)) => file,
                (b'y', Request::HasTwoTiers(_) | Request::Keep { .. }) => Answer::Yes,
                (b't', Request::Pointer(_)) => Answer::Text(recorded.to_owned()),
                (b'p', Request::Identify { .. }) => Answer::Pdb(Some(pdb.clone())),
                (b'n', Request::Cached(_) | Request::Read { .. }) => Answer::Named,
                (b'w', Request::Read { .. }) => Answer::Needs(BuildId(vec![8; 20]), recorded.to_owned()),
                (b'u', _) => Answer::Unreachable,
                (b'r', _) => Answer::Refused(recorded.to_owned()),
                // Answers to other questions must do no harm.
                (b'N', _) => Answer::Named,
                (b'F', _) => file,
                _ => Answer::Absent,
            });
        }
        assert!(!matches!(lookup.step(), Step::Ask(_)), "a look-up that does not end");
    }
});

fn check(request: &Request) {
    let places = match request {
        Request::Open(place) => std::slice::from_ref(place),
        Request::Keep { places, .. } => places,
        _ => &[],
    };
    for place in places {
        let joined = place.below.at(&place.root);
        let below = joined.strip_prefix(&place.root).expect("a path below the user's directory");
        assert!(below != Path::new("") && below.components().all(|part| matches!(part, Component::Normal(_))));
    }
    if let Request::Download { server, url, .. } = request {
        let rest = url.strip_prefix(&**server).expect("an address below the server's");
        assert!(
            rest.starts_with('/')
                && !rest.contains(['?', '#', '\\'])
                && rest.bytes().all(|byte| byte.is_ascii_graphic())
        );
        assert!(rest.split('/').skip(1).all(|part| !part.is_empty() && part != "." && part != ".."));
    }
    if let Request::Cached(key) = request {
        assert!(key.as_str().len() <= 240 && !key.as_str().contains(['/', '\\', ':', '\0']));
    }
}
