const SVG = "http://www.w3.org/2000/svg";

/** SVG paths on a grid of 24. */
const PATHS = {
  add: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h10v11H9zM5 15V4h10",
  delete: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  down: "M12 5v14M6 13l6 6 6-6",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  drive: "M4 5h16v6H4zM4 13h16v6H4zM7 8h.01M7 16h.01",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  folder: "M3 6h6l2 2h10v11H3z",
  next: "M9 5l7 7-7 7",
  open: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  pause: "M8 5v14M16 5v14",
  retry: "M20 12a8 8 0 1 1-2.5-5.8M20 4v4h-4",
  up: "M12 19V5M6 11l6-6 6 6",
  upload: "M12 16V5M7 9l5-5 5 5M5 20h14",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
};

/**
 * A small icon in the colour of the text. Screen readers ignore it: add text or a label.
 *
 * @param {keyof typeof PATHS} name
 * @returns {SVGSVGElement}
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  for (
    const [key, value] of [["viewBox", "0 0 24 24"], ["class", "icon"], ["aria-hidden", "true"]]
  ) {
    svg.setAttribute(key ?? "", value ?? "");
  }
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
