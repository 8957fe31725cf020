import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Grant, type GrantableCall, isGrantedBy } from './grant.ts'

const GRANTED = Date.parse('2030-01-01T00:00:00Z')
const EXPIRES = Date.parse('2030-01-08T00:00:00Z')

const grant: Grant = {
  ...{ id: 'g', tool: 'send', agent_id: 'a', session_id: 's', to: ['*@example.org'], args: 'digest' },
  ...{ granted_at: new Date(GRANTED).toISOString(), expires_at: new Date(EXPIRES).toISOString() },
}

const call: GrantableCall = {
  ...{ tool: 'send', agent_id: 'a', session_id: 's', destinations: ['bob@example.org'], args: 'digest' },
}

test('case 139: a grant is valid until the instant it expires, not at it', () => {
  assert.deepEqual(
    [GRANTED, EXPIRES - 1, EXPIRES, EXPIRES + 1].map((now) => isGrantedBy(grant, call, now)),
    [true, true, false, false],
  )
  assert.equal(isGrantedBy({ ...grant, expires_at: null }, call, EXPIRES + 1), true)
})

for (const [what, other] of [
  ['tool', { tool: 'pay' }],
  ['agent', { agent_id: 'b' }],
  ['session', { session_id: 't' }],
  ['destination', { destinations: ['bob@example.org', 'eve@evil.example'] }],
  ['destination with the same beginning', { destinations: ['bob@example.org.evil'] }],
  ['destination where a letter replaces the dot', { destinations: ['bob@exampleXorg'] }],
  ['destination: none', { destinations: [] }],
  ['arguments', { args: 'others' }],
] as const)
  test(`case 139: a grant does not cover another ${what}`, () => {
    assert.equal(isGrantedBy(grant, { ...call, ...other }, GRANTED), false)
  })
