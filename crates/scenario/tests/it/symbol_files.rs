//! The symbol files of the story name every address that its stacks show.

use std::collections::BTreeMap;
use std::path::Path;

use tracesift_scenario::{Code, story};
use tracesift_symbols::breakpad::SymbolFile;
use tracesift_symbols::{Guid, PdbId};

#[test]
fn every_native_frame_of_the_story_has_its_name() {
    let files: BTreeMap<_, _> = story::symbol_files().into_iter().map(|file| (file.path, file.text)).collect();
    let (mut public, mut with_line, mut inlined) = (0, 0, 0);
    let machine = story::scenario(&story::figures()[0]).machine;
    for (index, image) in machine.images.iter().enumerate() {
        let pdb = image.pdb.as_ref().expect("every image has a PDB");
        let guid: Guid = pdb.guid.to_string().parse().expect("the same GUID");
        let id = PdbId { name: pdb.name.clone(), guid, age: pdb.age };
        let stem = pdb.name.strip_suffix(".pdb").expect("its extension");
        let path = Path::new(&pdb.name).join(id.digits()).join(format!("{stem}.sym"));
        let text = files.get(&path).unwrap_or_else(|| panic!("no {}", path.display()));
        let table = SymbolFile::read(text.as_bytes(), Some(&id)).and_then(|file| file.table("id")).expect("a table");
        let shown = machine.functions.iter().filter_map(|code| match code {
            Code::Native { image, rva } if *image == index => Some(*rva),
            _ => None,
        });
        for rva in shown {
            let symbols = story::symbols();
            let symbol = symbols.iter().find(|symbol| symbol.module == image.name && symbol.return_rva == rva);
            let symbol = symbol.expect("a symbol");
            let frames: Vec<_> = table.frames(rva).collect();
            // Return addresses are looked up a byte before.
            assert!(table.frames(rva - 1).eq(frames.iter().copied()), "{symbol:?}");
            let function = frames.last().unwrap_or_else(|| panic!("no name for {symbol:?}"));
            assert_eq!(function.function, symbol.function);
            assert!(frames.iter().all(|frame| frame.line.is_some() == function.line.is_some()), "{frames:?}");
            public += usize::from(function.line.is_none());
            with_line += usize::from(function.line.is_some());
            inlined += frames.len() - 1;
        }
    }
    assert_eq!(files.len(), machine.images.len());
    assert_eq!((public + with_line, with_line, inlined), (story::symbols().len(), 12, 3));
    let bytes: usize = files.values().map(String::len).sum();
    assert!(bytes < 16 << 10, "{bytes} bytes");
}
