/**
 * Repeatable randomness: the same keys always draw the same number, so that dropping one fault does not change the
 * others. The key strings are part of the draw: changing one changes the worlds of all seeds.
 */

export type Key = string | number

/** Returns a number in [0, 1) drawn from the seed and the keys. */
export function chance(seed: number, ...keys: readonly Key[]): number {
  let hash = (seed ^ 0x9e3779b9) >>> 0
  for (const key of keys) {
    const text = typeof key === 'number' ? String(key) : key
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    hash = Math.imul(hash ^ 0x7c, 0x01000193)
  }
  return mixBits(hash) / 0x1_0000_0000
}

export function integerBelow(seed: number, below: number, ...keys: readonly Key[]): number {
  return Math.floor(chance(seed, ...keys) * below)
}

export function oneOf<T>(seed: number, among: readonly [T, ...T[]], ...keys: readonly Key[]): T {
  return among[integerBelow(seed, among.length, ...keys)] ?? among[0]
}

function mixBits(hash: number): number {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
