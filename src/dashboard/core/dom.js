/** @import { Child, Props } from "./types.d.ts" */

/**
 * Creates an element. Text is never parsed as markup.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  const { on = {}, style = {}, ...attributes } = props;
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value);
  for (const [event, listener] of Object.entries(on)) {
    element.addEventListener(event, /** @type {EventListener} */ (listener));
  }
  append(element, children);
  return element;
}

/**
 * Replaces the children of an element.
 *
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** @param {Element} element @param {string} name @param {unknown} value */
function setAttribute(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  element.setAttribute(name, value === true ? "" : String(value));
}

/** @param {Element} element @param {Child[]} children */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}
