//! What a project can hold before a launch.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::place::Place;

#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    /// The file's bytes and mode.
    file: Option<(&'static str, u32)>,
    has_directory: bool,
}

pub(super) const SHAPES: [Shape; 6] = [
    Shape::file("a file", "{\n  \"mcpServers\": {\n    \"own\": {\"command\": \"x\"}\n  }\n}\n", 0o640),
    Shape::file(
        "a file with the same name",
        "{\"mcpServers\": {\"docs\": {\"command\": \"x\", \"n\": 1.0}}}",
        0o644,
    ),
    Shape::file("an empty file", "", 0o600),
    Shape::file(
        "a file with comments",
        "\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"own\": {\"command\": \"x\",}, /* last */\r\n\t},\r\n}\r\n",
        0o644,
    ),
    Shape { name: "no file", file: None, has_directory: true },
    Shape { name: "no directory", file: None, has_directory: false },
];

impl Shape {
    const fn file(name: &'static str, text: &'static str, mode: u32) -> Self {
        Self { name, file: Some((text, mode)), has_directory: true }
    }

    /// A place of this shape.
    pub(super) fn place(self) -> Place {
        let place = Place::new();
        if self.has_directory {
            fs::create_dir(place.project().join(".cursor")).unwrap();
        }
        if let Some((text, mode)) = self.file {
            fs::write(place.file(), text).unwrap();
            fs::set_permissions(place.file(), fs::Permissions::from_mode(mode)).unwrap();
        }
        place
    }

    /// Which of the two it is when [`Self::check_restored`] says that something is wrong.
    pub(super) fn wrong_kind(self, place: &Place) -> &'static str {
        if self.has_its_file(place) {
            "of them with the project as it was, and something left beside it or in the state directory"
        } else {
            "of them with a project that is not as it was"
        }
    }

    /// Whether the user's file is as it was, whatever else lies beside it.
    pub(super) fn has_its_file(self, place: &Place) -> bool {
        self.difference(place).is_none()
    }

    /// Bytes, mode and directory are as they were, and nothing is left.
    pub(super) fn check_restored(self, place: &Place) -> Result<(), String> {
        let difference = self.difference(place);
        let strays = Some(place.strays()).filter(|strays| !strays.is_empty());
        let strays = strays.map(|strays| format!("left: {strays:?}"));
        let wrong: Vec<String> = difference.into_iter().chain(strays).collect();
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}: {}", self.name, wrong.join("; "))) }
    }

    fn difference(self, place: &Place) -> Option<String> {
        if place.project().join(".cursor").exists() != self.has_directory {
            return Some(format!("the directory is there: {}", !self.has_directory));
        }
        let found = fs::read(place.file()).ok();
        let expected = self.file.map(|(text, _)| text.as_bytes().to_vec());
        if found != expected {
            let shown =
                found.map(|found| String::from_utf8_lossy(&found).chars().take(80).collect::<String>());
            return Some(format!("the file: {shown:?}"));
        }
        let mode = fs::symlink_metadata(place.file()).ok().map(|file| file.permissions().mode() & 0o7777);
        let expected = self.file.map(|(_, mode)| mode);
        (mode != expected).then(|| format!("the mode: {mode:?} instead of {expected:?}"))
    }
}
