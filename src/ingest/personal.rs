//! Which fields of a parcel layer speak of a person? Exports leave them out unless the town says otherwise.

use crate::settings::Role;

/// Words that stand in names of fields about people.
const WORDS: [&str; 22] = [
    "owner",
    "ownr",
    "owners",
    "owne",
    "mailing",
    "mail",
    "mailto",
    "taxpayer",
    "payer",
    "phone",
    "telephone",
    "tel",
    "fax",
    "email",
    "contact",
    "firstname",
    "lastname",
    "surname",
    "grantor",
    "grantee",
    "tenant",
    "occupant",
];

/// Beginnings of such words, long enough to mean nothing else.
const STEMS: [&str; 12] = [
    "ownername",
    "ownernm",
    "owneraddr",
    "ownadd",
    "ownnam",
    "mailadd",
    "mailadr",
    "mailcity",
    "mailzip",
    "mailstate",
    "taxpayer",
    "coowner",
];

/// Whether a field's name says that it holds a person's name, address or number.
///
/// Meant for parcels and other premises: on conduits and structures OWNER is the code of an asset's owner; see [`holds_people`].
///
/// ```
/// use headwall::ingest::is_personal_field;
/// assert!(is_personal_field("OWNER2"));
/// assert!(is_personal_field("Mail_Addr"));
/// assert!(is_personal_field("ownerName"));
/// assert!(!is_personal_field("OWNERSHIP_TYPE"));
/// assert!(!is_personal_field("PROP_ADDR"));
/// ```
pub fn is_personal_field(name: &str) -> bool {
    let joined: String = name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
    words(name).iter().any(|word| WORDS.contains(&word.as_str())) || STEMS.iter().any(|stem| joined.starts_with(stem))
}

/// Whether layers of a role are about premises, so that their fields may speak of people.
pub fn holds_people(role: Role) -> bool {
    matches!(
        role,
        Role::Parcels | Role::Addresses | Role::Buildings | Role::Businesses | Role::Permits | Role::SepticSystems | Role::Laterals
    )
}

/// The words of a field name: split at what is no letter and where capitals begin.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_and_not_places() {
        for name in [
            "OWNER",
            "owner2",
            "OWNER_NAME",
            "OWNERNME1",
            "MAILING_ADDRESS",
            "MAIL_ADDR",
            "MailAdd",
            "PHONE",
            "E_MAIL",
            "Contact1",
            "TAXPAYER",
        ] {
            assert!(is_personal_field(name), "{name}");
        }
        for name in ["OWNERSHIP", "ADDRESS", "SITE_ADDR", "PARCEL_ID", "NAME", "TELEMETRY", "MAILBOX_ROAD", "LOC_ID"] {
            assert!(!is_personal_field(name), "{name}");
        }
        assert!(holds_people(Role::Parcels) && !holds_people(Role::Conduits));
    }
}
