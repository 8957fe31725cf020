// The driver of PostgreSQL, with the number of answers that are due in `storesDrill.pending`.

import pg from 'pg'

class CountedClient extends pg.Client {
  connect() {
    return counted(super.connect())
  }

  query(...given) {
    return counted(super.query(...given))
  }

  end() {
    return counted(super.end())
  }
}

async function counted(answer) {
  globalThis.storesDrill.pending += 1
  try {
    return await answer
  } finally {
    globalThis.storesDrill.pending -= 1
  }
}

export default { Client: CountedClient, DatabaseError: pg.DatabaseError }
