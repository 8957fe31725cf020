/** Durations as people write them: `500ms`, `30s`, `10m`, `2h`, `1d`. */

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds, or undefined when it is no duration. */
export function parseDuration(text: string): number | undefined {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/.exec(text)
  if (!found) return undefined
  return Math.round(Number(found[1]) * UNIT_MS[found[2] as keyof typeof UNIT_MS])
}

/** An instant in epoch ms: an ISO date, or a duration from `now`. */
export function parseInstant(text: string, now: number): number | undefined {
  const duration = parseDuration(text)
  if (duration !== undefined) return now + duration
  const instant = Date.parse(text)
  return Number.isNaN(instant) ? undefined : instant
}
