/** Checks the checkout: the tables of ARCHITECTURE.md, names and lines, and the table of requirements. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { violations } from './architecture/check.ts'
import { destructiveSites, explainedSites } from './architecture/destructive-calls.ts'
import {
  bannedWords,
  exportedTwice,
  glossaryWords,
  longLines,
  MOST_GLOSSARY_WORDS,
  unusedWords,
} from './architecture/language.ts'
import { needlessExports } from './architecture/needless-exports.ts'
import { parseTree } from './architecture/parse.ts'
import { readCode, readFolder, readPages, readText } from './architecture/read-tree.ts'
import {
  findCitations,
  requirementRows,
  stateViolations,
  unknownCitations,
  withTests,
} from './architecture/requirements.ts'
import { isTest, readRules } from './architecture/rules.ts'
import { webViolations } from './architecture/web.ts'

/** Folders whose exports must have a user. */
const CHECKED_EXPORTS = ['src/', 'web/src/', 'scripts/', 'bench/']

const markdown = readText('ARCHITECTURE.md') ?? ''
const rules = readRules(markdown)
const source = readFolder('src/')
const code = readCode()
const parsed = parseTree(code)

describe('the source tree', () => {
  it('src follows the tables of ARCHITECTURE.md', () => {
    assert.ok(source.size > 20, 'no source was found')
    assert.deepEqual(violations(source, rules), [])
  })

  it('the page follows its row of the table', () => {
    const tree = new Map([...code].filter(([path]) => /^web\/src\/.*\.tsx?$/.test(path)))
    assert.ok(tree.size > 10, 'no source of the page was found')
    assert.deepEqual(webViolations(tree, rules), [])
  })

  it('only adapters/envs/git.ts, which runs git in the sandbox, starts git', () => {
    const starts = /\b(spawn|spawnSync|exec|execSync|execFile|execFileSync|fork)\b\)?\(\s*(['"`])git\b/
    const found = [...source].filter(([path, text]) => !isTest(path) && starts.test(text))
    assert.deepEqual(
      found.map(([path]) => path),
      ['adapters/envs/git.ts'],
    )
    assert.match("promisify(execFile)('git', args)", starts)
  })

  it('O7: docs/losses.md explains every place that deletes or replaces something stored, and no other', () => {
    const explained = explainedSites(readText('docs/losses.md') ?? '')
    const sites = destructiveSites(parsed)
    assert.ok(sites.length > 50, 'no place was found')
    assert.deepEqual([...new Set(explained)].toSorted(), sites)
  })

  it('every exported name is declared once', () => {
    assert.deepEqual(exportedTwice(source), [])
  })

  it('every exported name is imported by another file, or published', () => {
    const { exports } = JSON.parse(readText('package.json') ?? '') as { readonly exports: Record<string, string> }
    const published = Object.values(exports).map((path) => path.replace('./', ''))
    assert.ok(published.every((path) => code.has(path)))
    // Node loads the reporter of tests by its path.
    const found = needlessExports(parsed, CHECKED_EXPORTS, [...published, 'scripts/reporter.mjs'])
    assert.deepEqual(found, [])
  })

  it('no file and no exported name has a banned word', () => {
    assert.deepEqual(bannedWords(code), [])
  })

  it('no line is longer than 120 characters, comments included', () => {
    assert.deepEqual(longLines(code), [])
  })

  it('the glossary has at most 80 words, and the code uses each of them', () => {
    const words = glossaryWords(readText('GLOSSARY.md') ?? '')
    assert.ok(words.length > 40 && words.length <= MOST_GLOSSARY_WORDS, `${words.length} words`)
    assert.deepEqual(unusedWords(words, source), [])
  })
})

describe('docs/requirements.md', () => {
  const page = readText('docs/requirements.md') ?? ''
  const rows = requirementRows(page)
  const citations = findCitations(parsed)

  it('has a row for every id that a test, a comment or a page cites', () => {
    assert.ok(rows.length > 200 && citations.length > 500, 'no requirement or no citation was found')
    assert.deepEqual(unknownCitations(rows, parsed, readPages()), [])
  })

  it('says open for a row without a test, and only there', () => {
    assert.deepEqual(stateViolations(rows, citations), [])
  })

  it('lists the tests of today', () => {
    assert.ok(page === withTests(page, citations), 'the list of tests is out of date; run: npm run requirements')
  })
})
