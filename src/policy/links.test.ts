import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findLinks, findWebAddresses } from './links.ts'

const LENGTH = 60_000
const repeated = (piece: string): string => piece.repeat(LENGTH / piece.length)

describe('I12: texts that are made to keep a pattern busy', () => {
  const texts = ['a', '文', '文.', 'a.', 'a-', '1.', '_', '.', 'a+', 'a@', '+1 ', 'www.', 'de12 ', '4 ', 'a:'].map(
    repeated,
  )
  const all = [...texts, `//${repeated('.')}a`, `a@${repeated('b')}`, repeated(`${'a'.repeat(64)}@`)]

  // If the time grew with the square of the length, this would take minutes.
  test('are searched for links at once', { timeout: 30_000 }, () => {
    for (const text of all) {
      findLinks(text)
      findWebAddresses(text)
    }
  })

  test('do not hide the links in them', () => {
    for (const text of texts)
      for (const link of ['bob@evil.test', 'https://evil.test/x?y=1', 'evil.test/x'])
        assert.ok(
          findLinks(`${text} ${link} ${text}`).some((found) => found.includes(link)),
          `${text.slice(0, 8)}… ${link}`,
        )
    assert.deepEqual(findLinks(`${'a'.repeat(80)}@evil.test).`), [`${'a'.repeat(64)}@evil.test`])
  })
})
