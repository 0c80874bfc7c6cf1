//! A portable PDB, or one that is embedded in an image.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tracesift_symbols::PortablePdb;
use tracesift_symbols::portable::read_embedded;

fuzz_target!(|bytes: &[u8]| {
    let Ok(pdb) = PortablePdb::read(bytes.to_vec(), None).or_else(|_| read_embedded(bytes, None)) else { return };
    let link = pdb.source_link();
    for document in pdb.documents().take(64) {
        let path = pdb.document(document);
        let _ = link.as_ref().zip(path).map(|(link, path)| link.address(&path));
    }
    for token in (0x0600_0000..).take(pdb.methods().min(64) as usize + 2) {
        // Wherever a point stands, the look-up finds the last one up to there.
        let points: Vec<_> = pdb.points(token).collect();
        let sound = points.iter().take_while(|point| point.is_ok()).count();
        assert!(points.len() - sound <= 1, "goes on behind damage");
        for (number, point) in points[..sound].iter().enumerate().take(64) {
            let Ok(point) = point else { continue };
            let next = points.get(number + 1);
            let found = pdb.place(token, point.il_offset);
            assert_eq!(found, if next.is_some_and(Result::is_err) { None } else { point.place });
        }
    }
});
