import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { TirelessError } from './error.ts'
import { copyJson, copyPlainData, deepFreeze, describeValue, type Json } from './json.ts'

const RULES = { what: 'it', code: 'state_invalid', undefinedKeys: 'refuse' } as const
const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSparseArray: true,
})

describe('plain data', () => {
  test('JSON values are copied as JSON would, with keys in order', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        const copy = copyPlainData(value, RULES)
        assert.deepEqual(
          { copy: JSON.stringify(copy), again: JSON.stringify(copyJson(copy)) },
          { copy: text, again: text },
        )
        assert.deepEqual(copy, JSON.parse(text))
      }),
    )
  })

  test('a copy shares nothing with its source, and cannot be changed once it is frozen', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const [copy, again] = [copyPlainData(value, RULES), copyJson(value as Json)]
        const text = JSON.stringify(copy)
        deepFreeze(copy)
        const change = (of: unknown): void => {
          if (typeof of !== 'object' || of === null) return
          for (const inner of Object.values(of)) change(inner)
          Reflect.set(of, 'added', 1)
          for (const key of Object.keys(of)) Reflect.deleteProperty(of, key)
        }
        change(value)
        change(copy)
        assert.deepEqual({ copy: JSON.stringify(copy), again: JSON.stringify(again) }, { copy: text, again: text })
      }),
    )
  })

  test('any value gives a copy that reads back the same, or an error with the given code', () => {
    fc.assert(
      fc.property(anything, (value) => {
        try {
          const copy = copyPlainData(value, RULES)
          assert.deepEqual(JSON.parse(JSON.stringify(copy)), copy)
        } catch (thrown) {
          assert.ok(thrown instanceof TirelessError && thrown.code === 'state_invalid', String(thrown))
        }
        assert.equal(typeof describeValue(value), 'string')
      }),
    )
  })

  test('undefined keys are refused or omitted; holes in a list are always refused', () => {
    const omit = { ...RULES, undefinedKeys: 'omit' } as const
    assert.deepEqual(copyPlainData({ a: undefined, b: 1 }, omit), { b: 1 })
    assert.throws(() => copyPlainData({ a: undefined, b: 1 }, RULES), /at \.a: it is not plain data; got undefined/)
    for (const rules of [RULES, omit]) assert.throws(() => copyPlainData({ a: [1, undefined] }, rules), /at \.a\[1\]/)
  })

  test('values that are too deep, too large or circular are refused quickly', () => {
    let deep: unknown = 1
    for (let i = 0; i < 10_000; i++) deep = [deep]
    let wide: unknown = 'x'
    for (let i = 0; i < 60; i++) wide = { a: wide, b: wide }
    assert.throws(() => copyPlainData(deep, RULES), /more than 256 levels/)
    assert.throws(() => copyPlainData(wide, RULES), /more than 1000000 values/)
    assert.throws(() => copyPlainData(['x'.repeat(100_000_000)], RULES), /at \[0\].*more than 16000000 characters/)
    const once = { shared: true }
    assert.deepEqual(copyPlainData([once, once], RULES), [{ shared: true }, { shared: true }], 'shared, not circular')
  })

  test('a key named __proto__ is an ordinary key', () => {
    const value = JSON.parse('{"__proto__": {"a": 1}}')
    assert.equal(JSON.stringify(copyPlainData(value, RULES)), '{"__proto__":{"a":1}}')
    assert.equal(JSON.stringify(copyJson(value)), '{"__proto__":{"a":1}}')
  })

  test('every value can be described', () => {
    const refusing = new Proxy({}, { getPrototypeOf: () => assert.fail('no'), ownKeys: () => assert.fail('no') })
    const nameless = Object.create(Object.create({}))
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    for (const odd of [refusing, nameless, revoked.proxy, Symbol('x'), 1n, () => 1, Object.create(null)]) {
      assert.ok(describeValue(odd).length > 0)
      assert.throws(() => copyPlainData([odd, undefined], RULES), { code: 'state_invalid' })
    }
  })
})
