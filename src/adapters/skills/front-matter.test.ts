/** The front matter of SKILL.md: YAML, and the one mistake that many skills make. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseFrontMatter } from './front-matter.ts'

const READABLE: readonly (readonly [what: string, head: string, description: string])[] = [
  ['plain text', 'name: s\ndescription: Reads mail', 'Reads mail'],
  ['quotes', 'name: "s"\ndescription: \'It\'\'s "fine"\'', 'It\'s "fine"'],
  ['escapes', 'name: s\ndescription: "caf\\u00e9\\tau lait"', 'café au lait'],
  ['a folded block', 'description: >-\n  one\n  two\n\n  three\nname: s', 'one two three'],
  ['a literal block', 'name: s\ndescription: |\n  one\n  two', 'one two'],
  ['a value over several lines', 'name: s\ndescription: one\n  two\n  three', 'one two three'],
  ['comments', '# about\nname: s # the folder\ndescription: x', 'x'],
  ['other keys, also nested ones', 'name: s\nmetadata:\n  name: other\n  tags: [a, b]\ndescription: x', 'x'],
  ['values that are not text in YAML', 'name: s\ndescription: 2026-01-01', '2026-01-01'],
  ['a colon in an unquoted value', 'name: s\ndescription: Use it when: always: "so"', 'Use it when: always: "so"'],
]

const INVALID: readonly (readonly [what: string, head: string])[] = [
  ['no name', 'description: x'],
  ['no description', 'name: s'],
  ['an empty description', 'name: s\ndescription:'],
  ['a description that is a list', 'name: s\ndescription: [a, b]'],
  ['a name given twice', 'name: s\nname: s\ndescription: x'],
  ['a list', '- name: s'],
  ['aliases that grow without end', `name: &a [x]\n${'b: [*a, *a]\n'.repeat(200)}description: x`],
]

describe('the front matter of a skill', () => {
  for (const [what, head, description] of READABLE)
    for (const line of ['\n', '\r\n'])
      test(`${what} can be read, with ${JSON.stringify(line)} as line end`, () => {
        const text = `---\n${head}\n---\nBody`.replaceAll('\n', line)
        assert.deepEqual(parseFrontMatter(text, 's'), { name: 's', description })
      })

  for (const [what, head] of INVALID)
    test(`${what} is refused as a conflict`, () =>
      assert.throws(() => parseFrontMatter(`---\n${head}\n---\n`, 's'), { code: 'conflict' }))

  test('another name than the folder is refused', () =>
    assert.throws(() => parseFrontMatter('---\nname: t\ndescription: x\n---\n', 's'), /"t".*folder, s/))
})
