/** Days as people count them: where they are. */

/** Contract: pure; the day of an instant as `2030-01-31`. `zone`: null where the machine's own is meant. */
export function dayIn(zone: string | null): (now: number) => string {
  if (zone === null) return ownDay
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  })
  return (now) => format.format(now)
}

/** Without a format: making the first one of a process takes longer than most commands. */
function ownDay(now: number): string {
  const at = new Date(now)
  const digits = (value: number): string => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${digits(at.getMonth() + 1)}-${digits(at.getDate())}`
}

/** The day so many days before or after another. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}
