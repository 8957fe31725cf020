import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareBehaviourName, parseBehaviourName, writeBehaviourName } from './behaviour-name.ts'

test('case 82: a behaviour is named with no, one or several parameters, and values in quotes', () => {
  const readings: readonly (readonly [string, string, Record<string, string>])[] = [
    ['do', 'do', {}],
    ['do:todo=T001', 'do', { todo: 'T001' }],
    ['do:todo=T001,round=2', 'do', { todo: 'T001', round: '2' }],
    ['do:note="a, b=c",todo=T001', 'do', { note: 'a, b=c', todo: 'T001' }],
    ['do:note="say \\"hi\\" \\\\ bye",empty=""', 'do', { note: 'say "hi" \\ bye', empty: '' }],
    ['check:path=src/a:b.ts', 'check', { path: 'src/a:b.ts' }],
    ['do:note=核对，完', 'do', { note: '核对，完' }],
  ]
  for (const [text, name, params] of readings) {
    const named = parseBehaviourName(text)
    assert.deepEqual(named, { name, params }, text)
    assert.deepEqual(parseBehaviourName(writeBehaviourName(named)), named, text)
    assert.equal(bareBehaviourName(text), name)
  }
})

test('case 82: parameters that cannot be read are refused with the form that is expected', () => {
  const refused = [
    ...['DO:T001', 'do:', ':todo=T001', 'do:todo=', 'do:=T001', 'do:todo=T001,', 'do:todo=T001,,round=2'],
    ...['do:todo=T001,todo=T002', 'do:todo="T001', 'do:todo=T001 round=2', 'do:a=b=c', 'do:Todo=1', 'do:a="b"c'],
    ...['do:a="\\n"', 'do:__proto__=x', 'do:a=1, b=2'],
  ]
  for (const text of refused)
    assert.throws(
      () => parseBehaviourName(text),
      (error: Error) =>
        error.message.includes(text) && /expected NAME or NAME:KEY=VALUE.*do:todo=T001/.test(error.message),
      text,
    )
})
