const UNITS = ["kB", "MB", "GB", "TB", "PB"];

/** A number of bytes for people, in powers of 1000 and three digits or so: "512 B", "1.5 MB", "230 GB". */
export function byteText(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  let value = bytes;
  let unit = -1;
  // What rounds to 1000 is one of the next.
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${UNITS[unit]}`;
}
