/** The path of a key in the configuration. */

export type Path = readonly (string | number)[]

/** For maps and sets. */
export const key = (path: Path): string => JSON.stringify(path)

/** For people: `kernel.agents[0].prompt`, `models.prices["local/*"]`. */
export function dotted(path: Path): string {
  if (path.length === 0) return 'the file'
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}
