/** docs/guides: pictures, links, commands, buttons and the program in them are those of this version. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { offlineModel } from '../src/adapters/models/offline/offline.ts'
import { buildProgram } from '../src/cli/program.ts'
import { loadCommands } from '../src/commands/lib/registry.ts'
import { GUIDE_LANGUAGES, GUIDE_PICTURES } from './support/guide-pictures.ts'
import { freshFolder, journalOf, openApp, runTaskIn } from './support/open-app.ts'
import { WITHOUT_SANDBOX } from './support/sandbox-available.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'docs/guides')
const IMAGES = join(ROOT, 'docs/images/guides')
const NAMES = ['first-agent', 'talking', 'custom-tool', 'channels', 'safety', 'troubleshooting']

const readGuide = (language: string, name: string): string => readFileSync(join(FOLDER, language, `${name}.md`), 'utf8')
const GUIDES = GUIDE_LANGUAGES.flatMap((language) =>
  NAMES.map((name) => ({ language, name, text: readGuide(language, name) })),
)
const matchesOf = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found)
const picturesOf = (text: string): readonly string[] =>
  matchesOf(text, /!\[[^\]]+\]\(([^)]+)\)/g).map((p) => basename(p))

/** As GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-')

function assertLinks(file: string, text: string): void {
  for (const target of matchesOf(text, /\]\(([^)]+)\)/g).filter((link) => !link.startsWith('https://'))) {
    const [path = '', anchor] = target.split('#')
    const found = resolve(file, '..', path)
    assert.ok(existsSync(found), `${file}: ${target} leads nowhere`)
    if (anchor === undefined) continue
    const anchors = matchesOf(readFileSync(found, 'utf8'), /^#+ (.+)$/gm).map(anchorOf)
    assert.ok(anchors.includes(anchor), `${file}: there is no heading ${target}`)
  }
}

/** Quoted text is one word. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')

const commandsOf = (text: string): readonly string[] => [
  ...matchesOf(text, /^ *(?:\.\/bin\/)?tireless (.+)$/gm),
  ...matchesOf(text, /`tireless ([^`]+)`/g),
]

/** Every text of the page in a language: what its buttons, places and headings are called. */
async function textsOfPage(language: 'en' | 'zh'): Promise<ReadonlySet<string>> {
  const folder = join(ROOT, 'web/src/texts')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const found = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value === 'string') found.add(value)
    else if (value && typeof value === 'object') for (const part of Object.values(value)) collect(part)
  }
  for (const file of files) {
    const exported = Object.values(await import(pathToFileURL(join(folder, file)).href))
    for (const texts of exported) collect((texts as Readonly<Record<string, unknown>>)[language])
  }
  return found
}

describe('docs/guides', () => {
  test('the index names every guide in both languages, and README.md leads to it', () => {
    const index = readFileSync(join(FOLDER, 'README.md'), 'utf8')
    assertLinks(join(FOLDER, 'README.md'), index)
    for (const { language, name } of GUIDES)
      assert.ok(index.includes(`(${language}/${name}.md)`), `${language}/${name}`)
    assert.ok(readFileSync(join(ROOT, 'README.md'), 'utf8').includes('(docs/guides/README.md)'))
    for (const language of GUIDE_LANGUAGES)
      assert.deepEqual(readdirSync(join(FOLDER, language)).toSorted(), NAMES.map((name) => `${name}.md`).toSorted())
  })

  test('both languages have the same parts, steps, commands and pictures', () => {
    for (const name of NAMES) {
      const [en, zh] = [readGuide('en', name), readGuide('zh', name)]
      for (const part of [/^(#+) /gm, /^(\d+)\. /gm, /^(\|)/gm, /^ *(```\w*)$/gm])
        assert.deepEqual(matchesOf(zh, part), matchesOf(en, part), `${name}: ${part}`)
      assert.deepEqual(
        picturesOf(zh),
        picturesOf(en).map((picture) => picture.replace('.en.', '.zh.')),
      )
    }
  })

  test('every link of a guide leads somewhere', () => {
    for (const { language, name, text } of GUIDES) assertLinks(join(FOLDER, language, `${name}.md`), text)
  })

  test('every picture exists and is shown by one guide; all together stay small', () => {
    const shown = GUIDES.flatMap(({ text }) => picturesOf(text)).toSorted()
    const made = Object.keys(GUIDE_PICTURES).flatMap((name) => GUIDE_LANGUAGES.map((l) => `${name}.${l}.png`))
    assert.deepEqual(shown, made.toSorted())
    const files = readdirSync(IMAGES)
    assert.deepEqual(files.toSorted(), shown)
    const bytes = files.reduce((sum, file) => sum + readFileSync(join(IMAGES, file)).length, 0)
    assert.ok(bytes < 2_000_000, `the pictures have ${bytes} bytes`)
  })

  test('every command is understood by the command line, with its arguments and options', async () => {
    const commands = await loadCommands()
    const silent = { writeOut: () => {}, writeErr: () => {} }
    for (const { language, name, text } of GUIDES)
      for (const line of commandsOf(text)) {
        let parsed: unknown
        const program = buildProgram(commands, silent, async ({ input, prompts = [] }, given) => {
          // What is missing is asked for.
          parsed = prompts.length > 0 || input.safeParse(given).success
        })
        await program
          .parseAsync(wordsOf(line), { from: 'user' })
          .catch((error: Error) => assert.fail(`${language}/${name}: tireless ${line}: ${error.message}`))
        assert.equal(parsed, true, `${language}/${name}: tireless ${line}`)
      }
  })

  for (const language of GUIDE_LANGUAGES)
    test(`what a guide prints in bold is on the page in its language: ${language}`, async () => {
      const known = await textsOfPage(language)
      const bold = GUIDES.filter((guide) => guide.language === language).flatMap(({ name, text }) =>
        matchesOf(text, /\*\*([^*]+)\*\*/g).map((label) => [name, label] as const),
      )
      assert.ok(bold.length > 20)
      assert.deepEqual(
        bold.filter(([, label]) => !known.has(label)),
        [],
      )
    })

  test('the program of the guide for a tool runs as the guide says, sandboxed', {
    skip: WITHOUT_SANDBOX,
  }, async (t) => {
    const home = freshFolder(t)
    const [program, same] = GUIDE_LANGUAGES.map((language) => {
      const [block = ''] = matchesOf(readGuide(language, 'custom-tool'), /```ts\n([\s\S]*?)```/g)
      return block.replace(/^ {3}/gm, '')
    })
    assert.ok(program && program === same)
    const setUp = await openApp(t, { home })
    await setUp.run('plugins new', { name: 'split-bill', kind: 'tool' })
    writeFileSync(join(home, 'plugins/split-bill/index.ts'), program)
    await setUp.run('plugins add', { source: 'plugins/split-bill', yes: true })
    await setUp.close()
    const app = await openApp(t, { home, model: offlineModel })
    for (const task of ['Use split_bill with total 186 and people 4', '用 split_bill，total 186，people 4']) {
      const { session_id } = await runTaskIn(app, task)
      const results = (await journalOf(app, session_id)).flatMap((r) => (r.kind === 'call_settled' ? [r.result] : []))
      assert.deepEqual(results, [{ status: 'ok', content: '{"each":46.5}' }])
    }
  })
})
