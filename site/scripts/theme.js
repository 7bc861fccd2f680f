// Light, dark, or as the system says. A classic script of its own, loaded async before the
// stylesheet. The page waits for it a tenth of a second at most (base.css), so that a chosen theme
// does not flash and a script that never comes keeps nobody from reading.
(() => {
  const KEY = "same-update-theme";
  const ORDER = ["system", "light", "dark"];
  const root = document.documentElement;

  /** @returns {string} The stored choice; "system" where storage is refused. */
  function stored() {
    try {
      const value = localStorage.getItem(KEY) ?? "system";
      return ORDER.includes(value) ? value : "system";
    } catch {
      return "system";
    }
  }

  /** @param {string} theme */
  function apply(theme) {
    root.setAttribute("data-theme", theme);
  }

  /** @param {string} theme */
  function store(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // A refused store costs the memory of the choice, not the choice.
    }
  }

  apply(stored());

  class WikiTheme extends HTMLElement {
    connectedCallback() {
      this.addEventListener("click", this);
      this.show(stored());
    }

    disconnectedCallback() {
      this.removeEventListener("click", this);
    }

    handleEvent() {
      const next = ORDER[(ORDER.indexOf(stored()) + 1) % ORDER.length];
      store(next);
      apply(next);
      this.show(next);
    }

    /** @param {string} theme */
    show(theme) {
      const button = this.querySelector("button");
      if (!button) return;
      const name = this.getAttribute(`data-${theme}`) ?? theme;
      button.setAttribute("aria-label", name);
      button.title = name;
      this.setAttribute("data-shown", theme);
    }
  }

  customElements.define("wiki-theme", WikiTheme);
  addEventListener("storage", (event) => {
    if (event.key === KEY) apply(stored());
  });
})();
