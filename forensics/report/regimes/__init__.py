"""Rules of notification as data: one TOML file each. Code that reads them is `forensics.report.duties`."""
