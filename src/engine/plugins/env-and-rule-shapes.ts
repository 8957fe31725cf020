/**
 * What envs and the rules of plugins return: its shape, and a description for error messages.
 * Must not know: who calls the method, and what follows from an invalid value.
 */

import type { Env, Health } from '../../ports/env.ts'
import type { RecoveryChoice } from '../../ports/recovery-rule.ts'
import type { RunEnding } from '../../ports/run-ending.ts'
import {
  booleanShape,
  numberShape,
  objectShape,
  oneOfShape,
  optionalShape,
  type Shape,
  taggedShape,
  textShape,
} from '../shape.ts'
import type { PluginPort } from './ask-plugin.ts'

/** The longest pause that a recovery rule can make: one hour. */
const MAX_PAUSE_MS = 3_600_000

const runEnding: Shape<RunEnding> = objectShape({ reason: textShape }, { answer: textShape, failed: booleanShape })
const ENDING = '{ reason, answer?, failed? }'

const envName = ({ kind }: Pick<Env, 'kind'>): string => (kind === undefined ? 'env' : `env ${kind}`)

export const isTerminalPort = (env: Pick<Env, 'kind'>): PluginPort<boolean | RunEnding> => ({
  ...{ who: envName(env), method: 'isTerminal', expected: `true, false or ${ENDING}` },
  shape: (value) => (typeof value === 'boolean' ? value : runEnding(value)),
})

export const stopRulePort = (rule: string): PluginPort<RunEnding | undefined> => ({
  ...{ who: `stop rule ${rule}`, method: 'check', expected: `${ENDING}, or undefined` },
  shape: optionalShape(runEnding),
})

const pause = { after_ms: numberShape({ from: 0, upto: MAX_PAUSE_MS }) }
const recovery: Shape<RecoveryChoice> = taggedShape('kind', {
  retry: objectShape({ kind: oneOfShape(['retry']) }, pause),
  next_turn: objectShape({ kind: oneOfShape(['next_turn']) }, { ...pause, feedback: textShape }),
  fail: objectShape({ kind: oneOfShape(['fail']) }),
})

export const recoveryPort = (rule: string): PluginPort<RecoveryChoice | undefined> => ({
  ...{ who: `recovery rule ${rule}`, method: 'decide' },
  expected:
    "{ kind: 'retry', after_ms? }, { kind: 'next_turn', feedback?, after_ms? }, { kind: 'fail' } or undefined, " +
    `with after_ms from 0 to ${MAX_PAUSE_MS}`,
  shape: optionalShape(recovery),
})

const health: Shape<Health> = taggedShape('ok', {
  true: objectShape({ ok: oneOfShape([true]) }),
  false: objectShape({ ok: oneOfShape([false]), reason: textShape }),
})

export const healthPort = (env: Pick<Env, 'kind'>): PluginPort<Health> => ({
  ...{ who: envName(env), method: 'health', expected: '{ ok: true } or { ok: false, reason }' },
  shape: health,
})
