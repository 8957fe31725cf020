/** Kinds of plugins that return garbage, besides those of garbage-ports.ts: envs of a user, and rules. */

import type { AppOptions } from '../../src/app.ts'
import type { EnvKind } from '../../src/ports/env.ts'
import type { PortCase, Returned } from './garbage-ports.ts'

const envKind = (opened: (returned: Returned) => EnvKind['open']) => ({
  app: (returned: Returned): AppOptions => ({ envs: [{ name: 'broken', open: opened(returned) }] }),
  input: { env: 'broken' },
})

const ENV_KIND = /env broken|x/

export const KIND_PORTS: Readonly<Record<string, PortCase>> = {
  'env kind: open': { valid: { ops: {} }, culprit: ENV_KIND, ...envKind((open) => open) },
  'env kind: health': {
    valid: { ok: false, reason: 'x' },
    culprit: ENV_KIND,
    ...envKind((health) => () => ({ ops: {}, health })),
  },
  'env kind: isTerminal': {
    valid: { reason: 'x', answer: 'y', failed: false },
    culprit: ENV_KIND,
    ...envKind((isTerminal) => () => ({ ops: {}, isTerminal })),
  },
  'stop rule': {
    valid: { reason: 'x', answer: 'y', failed: true },
    culprit: /stop rule/,
    app: (check) => ({ stopRules: [{ name: 'broken', check }] }),
  },
  'recovery rule': {
    valid: { kind: 'next_turn', feedback: 'x', after_ms: 1 },
    culprit: /behaviour scripted/,
    behaviour: () => ({
      decide: () => {
        throw new Error('not now')
      },
    }),
    app: (decide) => ({ recoveryRules: [{ name: 'broken', decide }] }),
  },
}
