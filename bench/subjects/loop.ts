/** What every subject does: a model that asks for one small tool call a step, so many times, and then answers. */

export const TASK = 'Note every number, one after the other.'
export const TOOL = 'note'

export const argsOf = (step: number): { readonly text: string } => ({ text: `number ${step}` })
export const resultOf = (text: string): string => `noted: ${text}`
export const ANSWER = 'All numbers are noted.'

/** Contract: which step that result is of; 0 where there is none yet. Throws where it is no result of this loop. */
export function stepOf(result: string | undefined): number {
  if (result === undefined) return 0
  const [, step] = /^noted: number (\d+)$/.exec(result) ?? []
  if (step === undefined) throw new Error(`the last result is not from this loop: ${JSON.stringify(result)}`)
  return Number(step)
}
