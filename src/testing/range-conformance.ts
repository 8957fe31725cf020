/** What every store must show of values that it could not read again; part of the store's conformance suite. */

import assert from 'node:assert/strict'
import type { Batch, Op, Store } from '../ports/store.ts'
import { type ConformanceCase, claim, dispatchOf, enqueue, forMessage, join, NOW, record } from './store-cases.ts'

const MANY = 2 ** 53
const LATE = Date.UTC(10_000, 0, 1)

const spender = { kernel_id: 'k', agent_id: 'a', dispatch_id: 'd', model: 'p/m', day: '2030-01-31' }
const usage = { input_tokens: 1, output_tokens: 1, cached_tokens: 0 }
const enqueueing = (more: object): Op => ({ op: 'enqueue', dispatches: [dispatchOf('bad', more)], now: NOW })
const fact = {
  ...{ id: 'f', key: 'k', text: 't', agent_id: 'a', session_id: 's', turn: 1, private: false },
  trust: 'trusted' as const,
  created_at: '2030-01-31T00:00:00.000Z',
  expires_at: null,
}

/** Each holds one value that must not be written. */
const BAD: Readonly<Record<string, Op>> = {
  'an instant after the year 9999': enqueueing({ at: LATE }),
  'an instant that is no whole number': enqueueing({ at: NOW + 0.5 }),
  'an instant beyond all numbers': enqueueing({ at: Number.POSITIVE_INFINITY }),
  'a priority that is no whole number': enqueueing({ priority: 0.1 }),
  'a priority that cannot be counted': enqueueing({ priority: MANY }),
  'a text that is none': enqueueing({ prompt: undefined }),
  'metadata that are no JSON': enqueueing({ metadata: { n: 1n } }),
  'metadata that only this process understands': enqueueing({ metadata: { f: () => {} } }),
  'a clock that shows nothing': { op: 'cycle_begin', cycle_id: 'c', kernel_id: 'k', trigger: 't', due: null, now: NaN },
  'a date that is none': { op: 'remember', fact: { ...fact, expires_at: 'never' }, now: NOW },
  'negative usage': { op: 'spent', id: 'x', usd: 1, usage: { ...usage, input_tokens: -5 }, ...spender },
  'fractional usage': { op: 'spent', id: 'x', usd: 1, usage: { ...usage, output_tokens: 1.5 }, ...spender },
  'usage without end': { op: 'spent', id: 'x', usd: 1, usage: { ...usage, cached_tokens: 1e308 }, ...spender },
  'money that is none': { op: 'reserve', id: 'x', usd: Number.NaN, caps: [], ...spender },
}

/** Contract: the batch is refused, one before and one after it in the same commit are not, nor is any later one. */
async function refusedAlone(store: Store, bad: Batch): Promise<void> {
  const word = (value: string): Batch => ({ ops: [{ op: 'set', name: value, value }] })
  const [before, refused, after] = await store.commit([word('before'), bad, word('after')])
  assert.deepEqual([before?.ok, refused?.ok, after?.ok], [true, false, true])
  assert.ok(refused && !refused.ok)
  assert.equal(refused.code, 'store_invalid')
  assert.deepEqual([await store.setting('before'), await store.setting('after')], ['before', 'after'])
}

export const rangeConformance: readonly ConformanceCase[] = [
  ...Object.entries(BAD)
    // In this thread a function is left out, as JSON does; handed to another one, it is refused.
    .filter(([name]) => !name.includes('only this process'))
    .map(([name, op]) => ({
      name: `B1: ${name} is refused, its batch alone`,
      async run(store: Store) {
        await refusedAlone(store, { ops: [{ op: 'set', name: 'with it', value: 1 }, op] })
        assert.equal(await store.setting('with it'), null, 'all of the batch or nothing')
        await enqueue(store, dispatchOf('good'))
        assert.equal((await store.dispatches({ limit: 10 })).length, 1)
        assert.deepEqual([await store.spend('0000', '9999'), await store.nextTimer()], [[], undefined])
      },
    })),
  {
    name: 'B1: metadata that only this process understands never break the store',
    async run(store) {
      const bad = BAD['metadata that only this process understands'] as Op
      await store.commit(Array.from({ length: 8 }, () => ({ ops: [bad] })))
      await enqueue(store, dispatchOf('good'))
      assert.ok(await store.dispatch('good'))
    },
  },
  {
    name: 'B1: a run that waits for a time that is none, or records a number that is none, is refused, its batch alone',
    async run(store) {
      await enqueue(store, dispatchOf('d1'))
      const [fence] = await claim(store, await join(store), 1)
      assert.ok(fence)
      await refusedAlone(store, { fence, ops: [{ op: 'park', wait: { ...forMessage, until: LATE }, now: NOW }] })
      const answer = { text: '', calls: [], finish: 'stop', usage: { ...usage, input_tokens: 0.5 } } as const
      for (const made of [
        record(1, { kind: 'model_answered', turn: 1, answer }),
        record(1, { kind: 'step_committed', turn: 1, next: { kind: 'continue' }, ms: Number.NaN }),
        { ...record(1), ts: -1 },
      ])
        await refusedAlone(store, { fence, ops: [{ op: 'append', session_id: 'session-d1', records: [made] }] })
      assert.deepEqual(await store.journal('session-d1'), [])
    },
  },
  {
    name: 'I11: spending that grows past what can be counted is still read, and still passes its cap',
    async run(store) {
      const most = { input_tokens: 1e9, output_tokens: 1e9, cached_tokens: 0 }
      for (let i = 0; i < 3; i += 1)
        await store.commit([{ ops: [{ op: 'spent', id: `${i}`, usd: 2 ** 53 - 1, usage: most, ...spender }] }])
      const [row] = await store.spend('0000', '9999')
      assert.deepEqual([row?.usd, row?.input_tokens, row?.calls], [2 ** 53 - 1, 3e9, 3])
      const caps = [{ name: 'c', scope: 'day', unit: 'usd', limit: 2 ** 53 - 1 }] as const
      const [outcome] = await store.commit([{ ops: [{ op: 'reserve', id: 'more', usd: 1, caps, ...spender }] }])
      assert.ok(outcome?.ok && (outcome.results[0] as { refused: unknown }).refused !== null)
    },
  },
]
