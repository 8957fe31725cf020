/** A gate that asks before every call, and a model that waits for the answer. */

import type { Gate } from '../../src/ports/gate.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

export const askFirst: Gate = { name: 'ask first', judge: () => ({ kind: 'ask', reason: 'it matters' }) }

export const modelAwaitingReply = () =>
  scriptedModel([{ calls: [{ tool: 'act' }] }, { calls: [{ tool: 'wait', args: { for: 'reply' } }] }, { text: 'done' }])
