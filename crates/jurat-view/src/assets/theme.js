// The theme that the reader chose, before anything is drawn. Without a choice, the system's.
try {
  const theme = localStorage.getItem("jurat-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; the system's theme is fine.
}
