use super::*;
use crate::ErrorKind;
use crate::Faults;
use std::path::Path;

fn write(path: &Path, sections: &[&[u8]]) -> u64 {
    let mut writer = BlockWriter::create(path, 7, &Faults::default()).unwrap();
    for section in sections {
        writer.append(section).unwrap();
        assert_eq!(writer.section_bytes(), section.len() as u64);
        writer.end_section().unwrap();
    }
    writer.finish(b"attributes").unwrap()
}

#[test]
fn sections_are_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("blocks");
    let long: Vec<u8> = (0..3_000_000u32)
        .map(|i| (i.wrapping_mul(i) >> 7) as u8)
        .collect();
    let cases: [&[&[u8]]; 4] = [
        &[],
        &[b""],
        &[b"abc", b"", &long, b"12345678"],
        &[&long[..4096]],
    ];
    for sections in cases {
        let identity = write(&path, sections);
        let file = BlockFile::open(&path).unwrap();
        assert_eq!((file.kind(), file.identity()), (7, identity));
        assert_eq!(
            (file.attributes(), file.sections()),
            (&b"attributes"[..], sections.len())
        );
        for (number, section) in sections.iter().enumerate() {
            let length = section.len() as u64;
            assert_eq!(file.len::<u8>(number), length);
            assert_eq!(file.values::<u8>(number, 0..length).unwrap(), *section);
            assert!(file.values::<u8>(number, 0..length + 1).is_err());
            let numbers = file.values::<u64>(number, 0..length / 8).unwrap();
            assert_eq!(numbers.len() as u64, length / 8);
        }
        assert!(file.values::<u8>(sections.len(), 0..1).is_err());
        file.verify().unwrap();
        let copy = directory.path().join("copy");
        file.copy(&copy, &Faults::default()).unwrap();
        assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&path).unwrap());
    }
}

#[test]
fn every_wrong_byte_and_every_cut_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("blocks");
    write(&path, &[b"some bytes", &[3; 5000]]);
    let whole = std::fs::read(&path).unwrap();
    let verify = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        BlockFile::open(&path).and_then(|file| file.verify())
    };
    verify(&whole).unwrap();
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        let error = verify(&bytes).unwrap_err();
        assert_eq!(
            (error.kind(), error.file()),
            (ErrorKind::Content, Some(&*path))
        );
    }
    for length in (0..whole.len()).step_by(7) {
        assert_eq!(
            verify(&whole[..length]).unwrap_err().kind(),
            ErrorKind::Content
        );
    }
}
