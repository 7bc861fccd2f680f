/**
 * Elements whose classes may be replaced: the browser knows, once and for all, a constructor that
 * makes an instance of the class that is now the element's.
 */

/** @typedef {HTMLElement & Record<string, (...given: any[]) => void>} Reacting */

const REACTIONS = ["connectedCallback", "disconnectedCallback", "adoptedCallback", "attributeChangedCallback"];

/** @type {Map<string, {own: CustomElementConstructor, made: Function}>} */
const defined = new Map();
/** The class that an element was made by: it stays that for the element's life. @type {WeakMap<object, CustomElementConstructor>} */
const classes = new WeakMap();

/** What the browser calls, which it asks for only once. @param {CustomElementConstructor} own */
function reacting(own) {
  const prototype = Object.create(own.prototype);
  for (const name of REACTIONS) {
    prototype[name] = /** @this {HTMLElement} @param {unknown[]} given */ function (...given) {
      classes.get(this)?.prototype[name]?.apply(this, given);
    };
  }
  return prototype;
}

/** @param {string} tag @param {CustomElementConstructor} own */
function define(tag, own) {
  const known = { own, made };
  /** @returns {HTMLElement} */
  function made() {
    const element = Reflect.construct(known.own, [], made);
    classes.set(element, known.own);
    return element;
  }
  made.prototype = reacting(own);
  made.observedAttributes = observed(own);
  defined.set(tag, known);
  customElements.define(tag, /** @type {any} */ (made));
}

/** @param {any} own @returns {string[]} */
function observed(own) {
  return own.observedAttributes ?? [];
}

/**
 * Whether these classes can take the place of those that are defined: the browser asks for the
 * attributes that a class observes only once, and forgets no element.
 * @param {Map<string, CustomElementConstructor>} wanted
 */
export function canDefine(wanted) {
  return [...defined].every(([tag, { own }]) => {
    const other = wanted.get(tag);
    return other !== undefined && observed(other).join() === observed(own).join();
  });
}

/** New elements are of these classes from now on; those there are stay as they are. @param {Map<string, CustomElementConstructor>} wanted */
export function defineAll(wanted) {
  for (const [tag, own] of wanted) {
    const known = defined.get(tag);
    if (known) {
      known.own = own;
      known.made.prototype = own.prototype;
    } else define(tag, own);
  }
}

/** A selector of all of them. */
export function definedTags() {
  return [...defined.keys()].join();
}
