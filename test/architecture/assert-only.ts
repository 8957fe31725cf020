import assert from 'node:assert/strict'

export function assertOnly(found: readonly string[], expected: RegExp): void {
  assert.equal(found.length, 1, `expected one violation, got:\n${found.join('\n')}`)
  assert.match(found[0] ?? '', expected)
}
