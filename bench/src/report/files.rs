//! Files that are complete or not there.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::ReportError;

/// Where the report goes.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the folder, and sees whether files can be made in it.
    ///
    /// # Errors
    ///
    /// If it can't be made, or no file in it.
    pub fn new(path: PathBuf) -> Result<Self, ReportError> {
        fs::create_dir_all(&path).map_err(|error| ReportError::File { path: path.clone(), error })?;
        let folder = Self(path);
        folder.temporary("report.html")?;
        Ok(folder)
    }

    /// Writes a file under another name and gives it its own when it is complete; its path.
    ///
    /// # Errors
    ///
    /// If it can't be written; then a file that was there before is as it was.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, ReportError> {
        let path = self.0.join(name);
        let mut file = self.temporary(name)?;
        let in_file = |error| ReportError::File { path: path.clone(), error };
        file.as_file_mut().write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(in_file)?;
        readable(file.path()).map_err(in_file)?;
        file.persist(&path).map_err(|error| in_file(error.error))?;
        Ok(path)
    }

    fn temporary(&self, name: &str) -> Result<NamedTempFile, ReportError> {
        let made = tempfile::Builder::new().prefix(".report-").tempfile_in(&self.0);
        made.map_err(|error| ReportError::File { path: self.0.join(name), error })
    }
}

/// Temporary files are for their owner only; a report is for all who may see the folder.
fn readable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o644))?;
    }
    let _ = path;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Folder;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_is_left() {
        let out = tempfile::tempdir().unwrap();
        let folder = Folder::new(out.path().join("new/folder")).unwrap();
        folder.write("a.csv", b"old").unwrap();
        let path = folder.write("a.csv", b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn what_can_not_be_written_is_named() {
        let out = tempfile::tempdir().unwrap();
        let folder = Folder::new(out.path().join("folder")).unwrap();
        std::fs::create_dir_all(out.path().join("folder/report.html/full")).unwrap();
        let error = folder.write("report.html", b"page").unwrap_err().to_string();
        assert!(error.contains("folder/report.html can't be written: "), "{error}");
        assert_eq!(std::fs::read_dir(out.path().join("folder")).unwrap().count(), 1, "nothing half-written");
        std::fs::write(out.path().join("file"), b"").unwrap();
        let error = Folder::new(out.path().join("file")).unwrap_err().to_string();
        assert!(error.contains("file can't be written: "), "{error}");
    }
}
