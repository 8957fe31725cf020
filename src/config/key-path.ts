/** The path of a key in the configuration. */

export type KeyPath = readonly (string | number)[]

/** For maps and sets. */
export const pathKey = (path: KeyPath): string => JSON.stringify(path)

/** For people: `kernel.agents[0].prompt`, `models.prices["local/*"]`. */
export function formatPath(path: KeyPath): string {
  if (path.length === 0) return 'the file'
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}
