/** The checks of names, lines and requirements against samples that must fail. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertOnly } from './assert-only.ts'
import { bannedWords, exportedTwice, glossaryWords, longLines, unusedWords } from './language.ts'
import { needlessExports } from './needless-exports.ts'
import { parseTree } from './parse.ts'
import { findCitations, requirementRows, stateViolations, unknownCitations, withTests } from './requirements.ts'

describe('the checker of names and lines', () => {
  it('finds a name that is exported twice, and not a re-export or a type beside its value', () => {
    const tree = new Map([
      ['a.ts', 'export function open() {}\nexport const Kind = 1\nexport type Kind = number'],
      ['b.ts', 'export const open = 1'],
      ['c.ts', "export { Kind } from './a.ts'"],
    ])
    assertOnly(exportedTwice(tree), /^open is exported by a\.ts and b\.ts$/)
  })

  it('finds a banned word in the name of a file and of an export, and not inside another word', () => {
    assertOnly(
      bannedWords(new Map([['engine/heard.ts', '']])),
      /^engine\/heard\.ts: the name heard has the banned word/,
    )
    assertOnly(bannedWords(new Map([['a.ts', 'export const tellRein = 1']])), /the name tellRein/)
    assert.deepEqual(bannedWords(new Map([['a.ts', 'export const reindex = 1\nconst wish = 1']])), [])
  })

  it('finds a line of 121 characters, also where they are Chinese', () => {
    assertOnly(longLines(new Map([['a.ts', `ok\n${'字'.repeat(121)}`]])), /^a\.ts:2 has 121 characters$/)
    assert.deepEqual(longLines(new Map([['a.ts', '字'.repeat(120)]])), [])
  })

  it('finds a glossary word that no code uses', () => {
    const words = glossaryWords('| **Stop reason** | why |\n| **Doorknob** | what |')
    assert.deepEqual(unusedWords(words, new Map([['a.ts', 'const stopReason = 1']])), ['Doorknob'])
  })
})

describe('the checker of exports', () => {
  const NAMES = 'export const one = 1\nexport function two() {}\nexport type Three = 3'
  const find = (user: string): readonly string[] =>
    needlessExports(
      parseTree(
        new Map([
          ['src/a.ts', NAMES],
          ['test/b.ts', user],
        ]),
      ),
      ['src/'],
      ['src/index.ts'],
    )

  it('finds an export that no other file imports', () => {
    assertOnly(
      find("import { one } from '../src/a.ts'\nimport type { Three } from '../src/a.ts'"),
      /^src\/a\.ts exports two, which no other file imports; remove the word export$/,
    )
    assert.equal(find('const one = 1').length, 3)
    assert.equal(find("import { one, two, Three } from '../other/a.ts'").length, 3)
  })

  it('sees every form of import, and leaves out published files and other folders', () => {
    for (const user of [
      "import { one, two as other, type Three } from '../src/a.ts'",
      "export { one, two, type Three as Four } from '../src/a.ts'",
      "export * from '../src/a.ts'",
      "import * as all from '../src/a.ts'",
      "const all = import('../src/a.ts')",
      "const { one, two: other } = await import('../src/a.ts')\ntype Four = import('../src/a.ts').Three",
      "(await import('../src/a.ts')).one\n(await import('../src/a.ts')).two\ntype A = import('../src/a.ts').Three",
    ])
      assert.deepEqual(find(user), [], user)
    const published = parseTree(
      new Map([
        ['src/index.ts', NAMES],
        ['test/a.ts', NAMES],
      ]),
    )
    assert.deepEqual(needlessExports(published, ['src/'], ['src/index.ts']), [])
  })
})

describe('the checker of requirements', () => {
  const page = [
    '| E1 | beats | built | |',
    '| case 7 | hooks | open: later | |',
    '',
    '<!-- written by npm run requirements -->',
  ].join('\n')
  const rows = requirementRows(page)
  const parse = (source: string, path = 'test/a.test.ts') => parseTree(new Map([[path, source]]))

  it('reads the ids at the start or the end of a title, and in the simulator', () => {
    const found = findCitations(
      parse(`test('E1, case 7: one', f); describe(\`two \${x} (E1)\`, f); test('three', f); list(['case 7: four'])`),
    )
    assert.deepEqual(
      found.map(({ id, title }) => `${id} ${title}`),
      ['E1 one', 'case 7 one', 'E1 two …', 'case 7 four'],
    )
    assert.equal(findCitations(parse(`world.fail('E1', 'broken')`, 'test/sim/a.ts')).length, 1)
    assert.deepEqual(findCitations(parse(`run('E1: no title')`, 'src/a.ts')), [])
  })

  it('finds a citation without a row, in a title, a comment and a page', () => {
    const none = new Map<string, string>()
    assertOnly(unknownCitations(rows, parse(`test('E1, case 8: a', f)`), none), /^test\/a\.test\.ts cites case 8/)
    assertOnly(unknownCitations(rows, parse(`test('Z3: a', f)`), none), /cites Z3/)
    assertOnly(unknownCitations(rows, parse(`test('cases 7 and 8: a', f)`), none), /cites cases 7/)
    assertOnly(unknownCitations(rows, parse('// as K4 says', 'src/a.ts'), none), /^src\/a\.ts cites K4/)
    assertOnly(unknownCitations(rows, [], new Map([['docs/a.md', 'see case 99']])), /^docs\/a\.md cites case 99/)
    assert.deepEqual(unknownCitations(rows, parse(`// E1, case 7\ntest('E1: a', f)`), none), [])
  })

  it('finds a state that contradicts the tests, an unknown state and a row that stands twice', () => {
    const cite = (id: string) => ({ id, path: 'test/a.test.ts', title: 'a' })
    assertOnly(stateViolations(rows, []), /^E1 reads "built", but no test cites it; write open$/)
    assertOnly(stateViolations(rows, [cite('E1'), cite('case 7')]), /^case 7 reads "open: later", but tests cite it$/)
    assertOnly(stateViolations([{ id: 'E1', state: 'part' }], [cite('E1')]), /^E1 reads "part"; write built/)
    const twice = [...rows, ...rows.slice(1)]
    assertOnly(stateViolations(twice, [cite('E1')]), /^case 7 has two rows$/)
  })

  it('writes the number of tests and their list, and writes nothing new the second time', () => {
    const citations = findCitations(parse(`test('E1: a *b*', f)`))
    const written = withTests(page, citations)
    assert.match(written, /^\| E1 \| beats \| built \| \[1\]\(#e1\) \|$/m)
    assert.ok(written.endsWith('### E1\n\n- [test/a.test.ts](../test/a.test.ts)\n  - a \\*b\\*\n'))
    assert.equal(withTests(written, citations), written)
  })
})
