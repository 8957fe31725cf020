/** The loop of every subject: the model requests one small tool call per step, and answers after the last step. */

export const TASK = 'Note every number, one after the other.'
export const TOOL = 'note'

export const argsOf = (step: number): { readonly text: string } => ({ text: `number ${step}` })
export const resultOf = (text: string): string => `noted: ${text}`
export const ANSWER = 'All numbers are noted.'

/** Contract: the step of a result; 0 without a result; throws if the result is not from this loop. */
export function stepOf(result: string | undefined): number {
  if (result === undefined) return 0
  const [, step] = /^noted: number (\d+)$/.exec(result) ?? []
  if (step === undefined) throw new Error(`the last result is not from this loop: ${JSON.stringify(result)}`)
  return Number(step)
}
