/**
 * Looks of residents by rule: fills the slots that the owner's words name, asks for those that are missing, and says
 * when all are known. Pure.
 */

import type { ModelRequest } from '../../../ports/model.ts'
import { isChinese } from './clauses.ts'

interface LookRequest {
  /** What the owner wrote; empty if nothing but events is new. */
  readonly owner: string
  readonly missing: readonly { readonly name: string; readonly question: string }[]
  readonly known: Readonly<Record<string, string>>
  /** Whether the last look asked. */
  readonly isAnswer: boolean
}

interface LookCall {
  readonly tool: string
  readonly args: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

/** Contract: undefined if the request is not a look. */
export function readLook({ messages, tools }: ModelRequest): LookRequest | undefined {
  const text = messages.find(({ role }) => role === 'user')?.text ?? ''
  if (!/^Look t=\d+, /.test(text) || !tools.some(({ name }) => name === 'noop')) return undefined
  const outside = text.replaceAll(DATA, '')
  const missing = (/^Missing slots:\n((?:- .*\n?)+)/m.exec(outside)?.[1] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => /^- ([^:]+)(?:: (.*))?$/.exec(line))
    .map((match) => ({ name: match?.[1] ?? '', question: match?.[2] ?? '' }))
  const owner = [...outside.matchAll(/^Your owner: ([\s\S]*?)(?=\nYour owner: |\n\n|$(?![\s\S]))/gm)].map(
    ([, said = '']) => said.trim(),
  )
  const known = [...(dataOf(text, 'known slots') ?? '').matchAll(/^- ([^:\n]+): (.*)$/gm)]
  return {
    ...{ owner: owner.join('\n'), missing },
    known: Object.fromEntries(known.map(([, name = '', value = '']) => [name, value])),
    isAnswer: /\ndid: [^\n]*query: [^\n]*$/.test((dataOf(text, 'the last looks') ?? '').trimEnd()),
  }
}

const DATA = /<data (\S+) [^\n>]*>\n[\s\S]*?\n<\/data \1>/g

const dataOf = (text: string, label: string): string | undefined =>
  new RegExp(`<data (\\S+) ${label}>\\n([\\s\\S]*?)\\n</data \\1>`).exec(text)?.[2]

/** Contract: the calls of a look that is about slots; undefined if it has none, and the owner wants something else. */
export function lookCalls({ owner, missing, known, isAnswer }: LookRequest): readonly LookCall[] | undefined {
  const chinese = isChinese(owner)
  if (owner === '') return [{ tool: 'noop', args: { reason: 'no rule for these events' } }]
  if (missing.length === 0 && Object.keys(known).length === 0) return undefined
  const names = missing.map(({ name }) => name)
  const learnt = namedValues(owner, names)
  if (isAnswer && Object.keys(learnt).length === 0) Object.assign(learnt, valuesInOrder(owner, names))
  const left = missing.filter(({ name }) => !Object.hasOwn(learnt, name))
  const learning = Object.keys(learnt).length === 0 ? [] : [{ tool: 'learn', args: { known: learnt } }]
  const ending =
    left.length > 0
      ? { tool: 'query', args: { text: question(left, chinese) } }
      : { tool: 'say', args: { text: summary({ ...known, ...learnt }, chinese) } }
  return [...learning, ending]
}

/** `city: Paris`, `city = Paris`, `city is Paris`, `城市是巴黎`. */
function namedValues(owner: string, names: readonly string[]): Record<string, string> {
  const found = names.flatMap((name) => {
    const pattern = `(?<![\\p{L}\\p{N}])${RegExp.escape(name)}\\s*(?::|：|=|\\bis\\b|是|为)\\s*([^,，;；。\\n]+)`
    const value = new RegExp(pattern, 'iu').exec(owner)?.[1]?.trim()
    return value === undefined || value === '' ? [] : [[name, value.replace(/\.$/, '')] as const]
  })
  return Object.fromEntries(found)
}

/** The answer to a query names the values in the order of the question. */
function valuesInOrder(owner: string, names: readonly string[]): Record<string, string> {
  const parts = owner
    .split(/[,，、;；\n]|\s+and\s+|和/)
    .map((part) => part.trim().replace(/[.。]$/, ''))
    .filter((part) => part !== '')
  const values = names.length === 1 ? [owner.trim()] : parts
  return Object.fromEntries(names.slice(0, values.length).map((name, at) => [name, values[at] ?? '']))
}

function question(left: LookRequest['missing'], chinese: boolean): string {
  const asked = left.map(({ name, question: text }) => text || name)
  return chinese ? `请告诉我：${asked.join('、')}` : `Please tell me: ${asked.join(', ')}`
}

function summary(known: Readonly<Record<string, string>>, chinese: boolean): string {
  const list = Object.entries(known).map(([name, value]) => `${name}: ${value}`)
  return chinese ? `我需要的都知道了：${list.join('；')}` : `I know all that I need: ${list.join('; ')}`
}
