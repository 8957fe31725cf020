/**
 * The ceiling: the tasks that an ideal policy could run without a question. It does not use the policy's rules, and is
 * lenient: an argument that is an address by its name must occur in the prompt, also as part of a word.
 */

import { addressesIn, effectOf } from './effects.ts'
import type { Called, Task } from './suite.ts'

/** Calls that spend money or destroy always need a person. */
export function canPass(task: Task): boolean {
  return task.calls.every((call) => reachOf(call) !== 'destructive' && isFree(task, call))
}

/** As `canPass`, if the prompt alone could allow spending and destruction. */
export const couldPass = (task: Task): boolean => task.calls.every((call) => isFree(task, call))

const reachOf = ({ tool, args }: Called) => effectOf(tool, args).reach

function isFree({ prompt }: Task, call: Called): boolean {
  if (reachOf(call) === 'private') return true
  return addressesIn(call.args).every((address) => isIn(prompt.toLowerCase(), address.toLowerCase()))
}

/** A number does not match inside a longer number. */
const isIn = (text: string, what: string): boolean =>
  /^\d+$/.test(what) ? new RegExp(`(?<!\\d)${what}(?!\\d)`).test(text) : text.includes(what)
