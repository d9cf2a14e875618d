/** Light and dark: as the system says, until the reader says otherwise. */

/** @param {string} theme */
function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light page" : "Dark page";
}

function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = false;
  applyTheme(system.matches ? "dark" : "light");
  system.addEventListener("change", () => {
    if (!chosen) applyTheme(system.matches ? "dark" : "light");
  });
  byId("theme").addEventListener("click", () => {
    chosen = true;
    applyTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  });
}
