/** Light, dark, or as the system has it. */

const THEMES = ["system", "light", "dark"];
const KEPT = "fascicle-theme";

/** Uses the theme that was chosen last. */
export function theme() {
  const chosen = localStorage.getItem(KEPT) ?? THEMES[0];
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  return chosen;
}

/** Uses the next theme. */
export function nextTheme() {
  localStorage.setItem(KEPT, THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
  return theme();
}
