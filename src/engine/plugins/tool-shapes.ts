/**
 * The return value of each method of a tool: its shape, and a description for error messages.
 * Must not know: who calls the method, and what follows from an invalid value.
 */

import { type Effect, REACHES, RECOVERIES } from '../../domain/effect.ts'
import type { Json } from '../../domain/json.ts'
import { type ResultLabel, TRUSTS } from '../../domain/label.ts'
import type { AnyTool } from '../../ports/tool.ts'
import {
  anyShape,
  booleanShape,
  isJsonObject,
  listShape,
  numberShape,
  objectShape,
  oneOfShape,
  optionalShape,
  recordShape,
  type Shape,
  ShapeMismatch,
  textShape,
} from '../shape.ts'
import type { PluginPort } from './ask-plugin.ts'

const texts = listShape(textShape)

export const remainsPort = (tool: string): PluginPort<string> => ({
  ...{ who: `tool ${tool}`, method: 'remains', expected: 'a text' },
  shape: textShape,
})

const effect = objectShape(
  { recovery: oneOfShape(RECOVERIES), reach: oneOfShape(REACHES) },
  { host: textShape, writes: booleanShape, method: textShape, publishes: booleanShape, unseen: booleanShape },
) as Shape<Effect>

const EXPECTED_EFFECT = `{ recovery: ${RECOVERIES.join('|')}, reach: ${REACHES.join('|')} }`

export const effectPort = (tool: string): PluginPort<Effect> => ({
  who: `tool ${tool}`,
  method: 'effect',
  expected: EXPECTED_EFFECT,
  shape: effect,
})

const optionalText = optionalShape(textShape)

/** The reason why a call is refused or needs approval; undefined if it is not refused or needs none. */
export const reasonPort = (tool: string, method: 'refuses' | 'asks'): PluginPort<string | undefined> => ({
  ...{ who: `tool ${tool}`, method, expected: 'a text, or undefined' },
  shape: optionalText,
})

export const destinationsPort = (tool: string): PluginPort<readonly string[]> => ({
  ...{ who: `tool ${tool}`, method: 'destinations', expected: 'a list of texts' },
  shape: texts,
})

export const contentPort = (tool: string): PluginPort<readonly string[]> => ({
  ...{ who: `tool ${tool}`, method: 'content', expected: 'a list of texts' },
  shape: texts,
})

const resultLabel: Shape<ResultLabel> = objectShape({
  trust: oneOfShape([...TRUSTS, 'workspace']),
  private: booleanShape,
})

export const resultLabelPort = (tool: string): PluginPort<ResultLabel> => ({
  ...{ who: `tool ${tool}`, method: 'gives', expected: '{ trust: trusted|untrusted|workspace, private }' },
  shape: resultLabel,
})

const viewedPart = objectShape({ from: numberShape(), to: numberShape(), of: numberShape() })

/** The fields of a result's facts that the engine reads. Other fields belong to the tool. */
const facts = objectShape(
  {},
  {
    label: objectShape({ trust: oneOfShape(TRUSTS), private: booleanShape }),
    seen: recordShape(textShape),
    partly: recordShape(viewedPart),
    hidden_in: texts,
    cwd: textShape,
    quoted: booleanShape,
  },
)

const anyFacts: Shape<Json> = (value) => {
  if (!isJsonObject(value)) return anyShape(value)
  const known = facts(value)
  return known instanceof ShapeMismatch ? known : { ...value, ...(known as Json & object) }
}

export const factsPort = (tool: string): PluginPort<Json> => ({
  ...{ who: `tool ${tool}`, method: 'run', code: 'tool_failed' },
  expected:
    'facts that are plain data: label { trust, private }, seen { path: digest }, hidden_in a list of paths, ' +
    'cwd a text, quoted true or false',
  shape: anyFacts,
})

type Meant = ReturnType<NonNullable<AnyTool['meant']>>
const meant = optionalShape(objectShape({ tool: textShape, args: anyShape }))

export const innerCallPort = (tool: string): PluginPort<Meant | undefined> => ({
  ...{ who: `tool ${tool}`, method: 'meant', expected: '{ tool, args }' },
  shape: meant,
})
