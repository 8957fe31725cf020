/** Calendar days of a time zone. */

/**
 * Contract: returns a pure function that formats the day of an instant as `2030-01-31`. `zone` null: the machine's time
 * zone.
 */
export function dayFormatter(zone: string | null): (now: number) => string {
  if (zone === null) return machineDay
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  })
  return (now) => format.format(now)
}

/** Does not use Intl, because creating the first formatter of a process takes longer than most commands. */
function machineDay(now: number): string {
  const at = new Date(now)
  const digits = (value: number): string => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${digits(at.getMonth() + 1)}-${digits(at.getDate())}`
}

/** `days` may be negative. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}
