/** The path of a key in the configuration. */

export type KeyPath = readonly (string | number)[]

/** The path as one text, which can be a key of a map or an element of a set. */
export const pathKey = (path: KeyPath): string => JSON.stringify(path)

/** The path as people write it: `kernel.agents[0].prompt`, `models.prices["local/*"]`. */
export function formatPath(path: KeyPath): string {
  if (path.length === 0) return 'the file'
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}
