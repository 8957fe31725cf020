/** Sizes in bytes, for people. */

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** Contract: as `812 bytes`, `3.1 kB`, `12 MB`; in powers of 1,000. */
export function formatBytes(bytes: number): string {
  let [size, unit] = [bytes, 0]
  for (; size >= 999.5 && unit < UNITS.length - 1; unit += 1) size /= 1000
  return `${unit > 0 && size < 9.95 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`
}
