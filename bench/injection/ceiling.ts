/**
 * The ceiling: which tasks an ideal lock could let through without a question. Found without the policy's own rules, and leniently: wherever an
 * argument is an address by its name, it has to stand in the prompt, be it as a part of a word.
 */

import { addressesIn, effectOf } from './effects.ts'
import type { Called, Task } from './suite.ts'

/** Whatever spends money or destroys goes through a person. */
export function canPass(task: Task): boolean {
  return task.calls.every((call) => reachOf(call) !== 'destructive' && isFree(task, call))
}

/** The same, if such things were taken on the owner's word like any other. */
export const couldPass = (task: Task): boolean => task.calls.every((call) => isFree(task, call))

const reachOf = ({ tool, args }: Called) => effectOf(tool, args).reach

function isFree({ prompt }: Task, call: Called): boolean {
  if (reachOf(call) === 'private') return true
  return addressesIn(call.args).every((address) => isIn(prompt.toLowerCase(), address.toLowerCase()))
}

/** A number is no part of another number. */
const isIn = (text: string, what: string): boolean =>
  /^\d+$/.test(what) ? new RegExp(`(?<!\\d)${what}(?!\\d)`).test(text) : text.includes(what)
