//! Codes of languages.
//!
//! Fields name a language by ISO 639-1 (two letters), 639-2 (three letters, for some languages two
//! codes) or 639-3 (three letters). Detection gives 639-3, and for some macrolanguages the code of
//! its largest language (`cmn` for Chinese), which is used for all of these here.

/// Codes of ISO 639-1 and their equivalents.
const TWO_LETTERS: &str = "\
aa aar ab abk ae ave af afr ak aka am amh an arg ar ara as asm av ava ay aym az aze ba bak be bel \
bg bul bh bih bi bis bm bam bn ben bo bod br bre bs bos ca cat ce che ch cha co cos cr cre cs ces \
cu chu cv chv cy cym da dan de deu dv div dz dzo ee ewe el ell en eng eo epo es spa et est eu eus \
fa pes ff ful fi fin fj fij fo fao fr fra fy fry ga gle gd gla gl glg gn grn gu guj gv glv ha hau \
he heb hi hin ho hmo hr hrv ht hat hu hun hy hye hz her ia ina id ind ie ile ig ibo ii iii ik ipk \
in ind io ido is isl it ita iu iku iw heb ja jpn ji yid jv jav jw jav ka kat kg kon ki kik kj kua \
kk kaz kl kal km khm kn kan ko kor kr kau ks kas ku kur kv kom kw cor ky kir la lat lb ltz lg lug \
li lim ln lin lo lao lt lit lu lub lv lav mg mlg mh mah mi mri mk mkd ml mal mn mon mo ron mr mar \
ms msa mt mlt my mya na nau nb nob nd nde ne nep ng ndo nl nld nn nno no nob nr nbl nv nav ny nya \
oc oci oj oji om orm or ori os oss pa pan pi pli pl pol ps pus pt por qu que rm roh rn run ro ron \
ru rus rw kin sa san sc srd sd snd se sme sg sag sh hbs si sin sk slk sl slv sm smo sn sna so som \
sq sqi sr srp ss ssw st sot su sun sv swe sw swa ta tam te tel tg tgk th tha ti tir tk tuk tl tgl \
tn tsn to ton tr tur ts tso tt tat tw twi ty tah ug uig uk ukr ur urd uz uzb ve ven vi vie vo vol \
wa wln wo wol xh xho yi yid yo yor za zha zh cmn zu zul";

/// Other codes of three letters and their equivalents.
const THREE_LETTERS: &str = "\
alb sqi als sqi arb ara arm hye azj aze baq eus bur mya chi cmn cze ces dut nld ekk est fas pes \
fil tgl fre fra gaz orm geo kat ger deu gre ell ice isl khk mon kmr kur lvs lav mac mkd mao mri \
may msa mol ron nor nob npi nep ory ori pbt pus per pes plt mlg rum ron scc srp scr hrv slo slk \
swh swa tib bod uzn uzb wel cym ydd yid zho cmn zsm msa";

/// The code that stands for `code`, which is in lower case; others stand for themselves.
pub fn canonical(code: &[u8]) -> &[u8] {
    let list = match code.len() {
        2 => TWO_LETTERS,
        3 => THREE_LETTERS,
        _ => return code,
    };
    let mut words = list.split(' ');
    while let (Some(other), Some(standard)) = (words.next(), words.next()) {
        if other.as_bytes() == code {
            return standard.as_bytes();
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_for_codes_of_three_letters_that_stand_for_themselves() {
        for (list, length) in [(TWO_LETTERS, 2), (THREE_LETTERS, 3)] {
            let words: Vec<&str> = list.split(' ').collect();
            let pairs = words.chunks(2);
            let others: Vec<&str> = pairs.clone().map(|pair| pair[0]).collect();
            assert!(others.is_sorted() && others.iter().all(|other| other.len() == length));
            for pair in pairs {
                assert_eq!(pair[1].len(), 3, "{pair:?}");
                assert_eq!(
                    canonical(pair[1].as_bytes()),
                    pair[1].as_bytes(),
                    "{pair:?}"
                );
            }
        }
    }

    #[test]
    fn detected_languages_stand_for_themselves() {
        for language in whatlang::Lang::all() {
            let code = language.code().as_bytes();
            assert_eq!(canonical(code), code, "{language:?}");
        }
    }
}
