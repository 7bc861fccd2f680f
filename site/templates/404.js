(() => {
  const root = document.documentElement;
  try {
    root.setAttribute("data-theme", localStorage.getItem("same-update-theme") ?? "system");
  } catch {
    // No storage here: the colours are the system's.
  }

  const links = [...document.querySelectorAll("a[data-language]")];
  const languages = links.map((link) => link.dataset.language);
  const parts = location.pathname.split("/").slice(1, -1);
  const folders = parts.map((_, at) => `/${parts.slice(0, at + 1).join("/")}/`);
  folders.unshift("/");

  // What stands before a language is the book's place, most likely; else the nearest folder that is.
  const likely = folders.filter((_, at) => languages.includes(parts[at]));
  const wanted = [...new Set([...likely, ...folders.reverse()])];

  async function isBook(folder) {
    try {
      const response = await fetch(`${folder}build.json`);
      return response.ok && typeof (await response.json()).build === "string";
    } catch {
      return false;
    }
  }

  function show(folder) {
    for (const link of links) {
      link.href = `${folder}${link.dataset.language}/`;
      const isOwn = parts.includes(link.dataset.language);
      if (isOwn) link.closest("ul").prepend(link.closest("li"));
    }
    document.querySelector("[data-found]").hidden = false;
    document.querySelector("[data-up]").hidden = true;
  }

  async function find() {
    for (const folder of wanted) if (await isBook(folder)) return show(folder);
  }

  void find();
})();
