// Light, dark, or as the system says. A classic script of its own, loaded async before the
// stylesheet. The page waits for it a tenth of a second at most (base.css), so that a chosen theme
// does not flash and a script that never comes keeps nobody from reading.
(() => {
  const KEY = "same-update-theme";
  const ORDER = ["system", "light", "dark"];
  const root = document.documentElement;

  /** @returns {string} The stored choice; where storage is refused, what is shown. */
  function stored() {
    try {
      const value = localStorage.getItem(KEY) ?? "system";
      return ORDER.includes(value) ? value : "system";
    } catch {
      return root.getAttribute("data-theme") ?? "system";
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

  /** What is shown: where storage is refused, the only memory of the choice. */
  let chosen = stored();
  apply(chosen);

  class WikiTheme extends HTMLElement {
    connectedCallback() {
      this.addEventListener("click", this);
      this.show(chosen);
    }

    disconnectedCallback() {
      this.removeEventListener("click", this);
    }

    handleEvent() {
      chosen = ORDER[(ORDER.indexOf(chosen) + 1) % ORDER.length];
      store(chosen);
      apply(chosen);
      this.show(chosen);
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

  /** Another page of the site may have changed it, also while this one was kept for Back. */
  function follow() {
    chosen = stored();
    apply(chosen);
    for (const element of document.querySelectorAll("wiki-theme")) /** @type {WikiTheme} */ (element).show(chosen);
  }

  addEventListener("storage", (event) => {
    if (event.key === KEY) follow();
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) follow();
  });
})();
