import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { filesSource } from '../../src/adapters/sources/files.ts'
import { CLEAN_LABEL } from '../../src/domain/label.ts'
import type { SourceSink } from '../../src/ports/source.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { runClockFor } from '../support/kernels.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { openSourceApp, payloadsOf, type SourceApp, waitForEvents } from '../support/source-app.ts'

const FAST = { type: 'files', settle: '20ms', poll: '50ms' }

function watchedFolder(t: TestContext): string {
  const folder = freshFolder(t, 'watched')
  mkdirSync(join(folder, 'sub'), { recursive: true })
  return folder
}

const changes = (app: SourceApp): readonly string[] =>
  payloadsOf(app)
    .map((payload) => payload as { path: string; change: string })
    .map(({ path, change }) => `${change} ${path.split('/').slice(-2).join('/')}`)

/** Contract: the source has seen the files that exist. */
async function openWatching(t: TestContext, ...given: DropFirst<Parameters<typeof openSourceApp>>): Promise<SourceApp> {
  const app = await openSourceApp(t, ...given)
  const [name = ''] = Object.keys(given[0])
  await waitUntil(async () => (await app.app.service('store').setting(`source:${name}`)) !== null)
  return app
}

type DropFirst<T extends readonly unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never

describe('file watching', () => {
  test('K7: created, changed and deleted files are reported once each; existing ones are no news', async (t) => {
    const folder = watchedFolder(t)
    writeFileSync(join(folder, 'sub/old.txt'), 'old')
    const app = await openWatching(t, { inbox: { ...FAST, paths: [folder] } })
    writeFileSync(join(folder, 'sub/new.txt'), 'new')
    await waitForEvents(app, 1)
    assert.deepEqual(payloadsOf(app), [{ path: join(folder, 'sub/new.txt'), change: 'created', size: 3 }])
    writeFileSync(join(folder, 'sub/old.txt'), 'newer')
    await waitForEvents(app, 2)
    rmSync(join(folder, 'sub/new.txt'))
    await waitForEvents(app, 3)
    assert.deepEqual(changes(app), ['created sub/new.txt', 'changed sub/old.txt', 'deleted sub/new.txt'])
    assert.ok(app.heard.every(({ label }) => label.trust === 'untrusted'))
  })

  test('K7: a poll finds what no change event has told', async (t) => {
    const folder = join(watchedFolder(t), 'later')
    const app = await openWatching(t, { inbox: { ...FAST, paths: [folder] } })
    // The folder does not exist at the start, so nothing watches it.
    mkdirSync(folder)
    writeFileSync(join(folder, 'a.txt'), 'a')
    await waitForEvents(app, 1)
    assert.deepEqual(changes(app), ['created later/a.txt'])
  })

  test('K7: changes while no process ran are reported at the start, without gap and duplicate', async (t) => {
    const folder = watchedFolder(t)
    for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, 'sub', name), name)
    const sources = { inbox: { ...FAST, paths: [folder] } }
    const first = await openWatching(t, sources)
    writeFileSync(join(folder, 'sub/d'), 'd')
    await waitForEvents(first, 1)
    await first.stop()
    writeFileSync(join(folder, 'sub/a'), 'changed')
    rmSync(join(folder, 'sub/b'))
    writeFileSync(join(folder, 'sub/e'), 'e')
    const second = await openWatching(t, sources, { before: first })
    await waitForEvents(second, 4)
    assert.deepEqual(changes(second).slice(1).toSorted(), ['changed sub/a', 'created sub/e', 'deleted sub/b'])
    assert.equal((await second.state('inbox')).duplicates, 0)
  })

  test('K7: globs and ignored names choose the files', async (t) => {
    const folder = watchedFolder(t)
    const paths = [join(folder, '**/*.md')]
    const app = await openWatching(t, { notes: { ...FAST, paths, ignore: ['draft*', 'deep'] } })
    mkdirSync(join(folder, 'deep'))
    for (const name of ['sub/x.txt', 'sub/draft.md', 'deep/y.md', 'sub/last.md']) writeFileSync(join(folder, name), '')
    await waitForEvents(app, 1)
    assert.deepEqual(changes(app), ['created sub/last.md'])
  })

  test('K7: a file is reported when it has settled, not while it is being written', async (t) => {
    const folder = watchedFolder(t)
    const clock = new FakeClock()
    const app = await openWatching(t, { inbox: { ...FAST, settle: '1s', poll: '1s', paths: [folder] } }, { clock })
    for (let size = 1; size <= 5; size += 1) {
      writeFileSync(join(folder, 'sub/big'), 'x'.repeat(size))
      await runClockFor(clock, 1000)
    }
    assert.deepEqual(app.heard, [])
    await runClockFor(clock, 3000)
    await waitForEvents(app, 1)
    assert.deepEqual(payloadsOf(app), [{ path: join(folder, 'sub/big'), change: 'created', size: 5 }])
  })

  test('K7: changes of files that do not count cause no looks without a pause', async (t) => {
    const clock = new FakeClock()
    const stop = new AbortController()
    let looks = 0
    let ring = (): void => {}
    const source = filesSource({
      ...{ name: 'inbox', paths: [watchedFolder(t)], ignore: [], mostFiles: 10, settleMs: 0, pollMs: 10_000, clock },
      label: CLEAN_LABEL,
      watch: (_path, onChange) => {
        ring = onChange
        return { close() {} }
      },
      isOwnFolder: (path) => {
        if (path.endsWith('sub')) return true
        // Something changes during each look.
        ring()
        looks += 1
        if (looks > 100) stop.abort()
        return false
      },
    })
    const sink: SourceSink = {
      publish: async () => ({ duplicate: false }),
      setSlice() {},
      mark: async () => ({}),
      async saveMark() {},
    }
    const ended = source.run(sink, stop.signal)
    await waitUntil(() => clock.sleeping > 0 || stop.signal.aborted)
    if (!stop.signal.aborted) await runClockFor(clock, 950)
    stop.abort()
    await ended
    assert.equal(looks, 10)
  })

  test('K7: links are not followed, not even if they replace the watched folder', async (t) => {
    const [folder, outside] = [watchedFolder(t), watchedFolder(t)]
    writeFileSync(join(outside, 'secret.txt'), 'secret')
    const sources = { inbox: { ...FAST, paths: [join(folder, 'sub'), join(folder, 'sub/*.txt')] } }
    const app = await openWatching(t, sources)
    symlinkSync(outside, join(folder, 'sub/link'))
    symlinkSync(join(outside, 'secret.txt'), join(folder, 'sub/file'))
    writeFileSync(join(folder, 'sub/real'), '')
    await waitForEvents(app, 1)
    renameSync(join(folder, 'sub'), join(folder, 'gone'))
    symlinkSync(outside, join(folder, 'sub'))
    await waitForEvents(app, 2)
    assert.deepEqual(changes(app), ['created sub/real', 'deleted sub/real'])
  })

  test("K7: too many files, and the program's own folders, are refused; other sources go on", async (t) => {
    const folder = watchedFolder(t)
    for (let i = 0; i < 4; i += 1) writeFileSync(join(folder, `${i}`), '')
    const home = freshFolder(t)
    const app = await openSourceApp(
      t,
      {
        many: { ...FAST, paths: [folder], max_files: 3 },
        own: { ...FAST, paths: [join(home, 'logs')] },
        fine: { ...FAST, paths: [join(folder, 'sub')] },
      },
      { home },
    )
    await waitUntil(async () => (await app.state('many')).state === 'failed')
    assert.match(String((await app.state('many')).why), /too many files.*at most 3 \(max_files\)/)
    await waitUntil(async () => (await app.state('own')).state === 'failed')
    assert.match(String((await app.state('own')).why), /Tireless itself writes/)
    await waitUntil(async () => (await app.app.service('store').setting('source:fine')) !== null)
    writeFileSync(join(folder, 'sub/x'), '')
    await waitForEvents(app, 1)
  })
})
