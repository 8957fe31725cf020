/** What every subject does: a model that asks for one small tool call a step, so many times, and then answers. */

export const TASK = 'Note every number, one after the other.'
export const TOOL = 'note'

export const argsOf = (step: number): { readonly text: string } => ({ text: `number ${step}` })
export const resultOf = (text: string): string => `noted: ${text}`
export const ANSWER = 'All numbers are noted.'
