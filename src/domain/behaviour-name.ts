/**
 * The name of a behaviour with its parameters, as people and models write it: `do`, `do:todo=T001`,
 * `do:todo=T001,note="a, b"`. A quoted value may contain anything; `\"` and `\\` stand for `"` and `\`.
 */

import { TirelessError } from './error.ts'

export interface NamedBehaviour {
  readonly name: string
  readonly params: Readonly<Record<string, string>>
}

/** Characters of a text that an error quotes. */
const MAX_QUOTED = 200
const PARAM = /([a-z][a-z0-9_]{0,39})=("(?:[^"\\]|\\["\\])*"|[^\s",=]+)(,|$)/y

/** Contract: throws `usage` if the text after the name is not a list of parameters. */
export function parseBehaviourName(text: string): NamedBehaviour {
  const named = readBehaviourName(text)
  if (named) return named
  throw new TirelessError('usage', {
    ...{ what: 'the parameters of a behaviour cannot be read', got: text.slice(0, MAX_QUOTED) },
    expected: BEHAVIOUR_NAME_FORM,
  })
}

/** Completes "expected …". */
export const BEHAVIOUR_NAME_FORM =
  'NAME or NAME:KEY=VALUE,KEY="VALUE, QUOTED",… with each key once, for example do:todo=T001'

/** Contract: undefined if the text after the name is not a list of parameters. */
export function readBehaviourName(text: string): NamedBehaviour | undefined {
  const colon = text.indexOf(':')
  if (colon < 0) return { name: text, params: {} }
  const params = colon === 0 ? undefined : parseParams(text.slice(colon + 1))
  return params && { name: text.slice(0, colon), params }
}

/** Contract: the name without parameters, whether or not these can be read. */
export const bareBehaviourName = (text: string): string => text.split(':', 1)[0] ?? ''

/** Contract: `parseBehaviourName` of the result gives the same again. */
export const writeBehaviourName = ({ name, params }: NamedBehaviour): string => {
  const list = Object.entries(params).map(([key, value]) => `${key}="${value.replaceAll(/["\\]/g, '\\$&')}"`)
  return list.length === 0 ? name : `${name}:${list.join(',')}`
}

/** Undefined if this is no list of parameters. */
function parseParams(list: string): NamedBehaviour['params'] | undefined {
  const found: [string, string][] = []
  for (let at = 0; at < list.length || found.length === 0; at = PARAM.lastIndex) {
    PARAM.lastIndex = at
    const [, key = '', value = '', comma] = PARAM.exec(list) ?? []
    if (comma === undefined || (comma === ',' && PARAM.lastIndex === list.length)) return undefined
    if (found.some(([known]) => known === key)) return undefined
    found.push([key, value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value])
  }
  return Object.fromEntries(found)
}
