/** A process that is killed with commits in the write-ahead log: lost-commits-main.ts FILE WRITES */

import { openSqliteStore } from '../../src/adapters/stores/sqlite/store.ts'
import { commitOne } from '../../src/ports/store.ts'
import {
  claimInStore,
  enqueueInStore,
  joinTestWorker,
  newTestDispatch,
  newTestRecord,
} from '../../src/testing/store-test-helpers.ts'

const [file = '', writes] = process.argv.slice(2)
const store = await openSqliteStore({
  file,
  clock: { monotonic: () => performance.now() },
  writes: writes === 'thread' || writes === 'here' ? writes : 'as_it_suits',
})
const epoch = await joinTestWorker(store)
await enqueueInStore(store, newTestDispatch('one'))
const [fence] = await claimInStore(store, epoch)
for (let seq = 1; fence && seq <= 20; seq += 1)
  await commitOne(store, [{ op: 'append', session_id: 'session-one', records: [newTestRecord(seq)] }], fence)
// A commit is acknowledged to its caller no earlier than this.
await new Promise((resolve) => setImmediate(resolve))
process.kill(process.pid, 'SIGKILL')
