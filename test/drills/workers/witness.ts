/**
 * Triggers in the drill's database that note who wrote what only an owner may write: each record of a journal beside
 * the worker that held the dispatch at that moment, each cycle beside the worker that led.
 */

import pg from 'pg'

const OWNER = `SELECT w.name FROM dispatches d JOIN workers w ON w.epoch = d.epoch
  WHERE d.session = NEW.session AND d.status = 'running'`
const LEADER = `SELECT w.name FROM settings s JOIN workers w ON w.epoch = (s.value::json ->> 'epoch')::bigint
  WHERE s.name = 'leader ' || NEW.kernel_id`

const noteWith = (name: string, what: string, owner: string): string => `
CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO drill_writes (what, writer, owner) VALUES (${what}, current_setting('application_name'), (${owner}));
  RETURN NULL;
END $$;`

const WITNESS = `
CREATE TABLE drill_writes (n BIGSERIAL, what TEXT, writer TEXT, owner TEXT, at TIMESTAMPTZ DEFAULT clock_timestamp());
${noteWith('note_journal', "'record ' || NEW.session || '/' || NEW.seq", OWNER)}
${noteWith('note_cycle', "'cycle ' || NEW.cycle_id", LEADER)}
CREATE TRIGGER drill_journal AFTER INSERT ON journal FOR EACH ROW EXECUTE FUNCTION note_journal();
CREATE TRIGGER drill_cycle AFTER INSERT OR UPDATE ON cycles FOR EACH ROW EXECUTE FUNCTION note_cycle();`

export interface WitnessedWrite {
  readonly what: string
  /** The application name of the connection. */
  readonly writer: string
  /** The name of the worker that held the dispatch or led; null: none did. */
  readonly owner: string | null
}

export const installWitness = (url: string): Promise<unknown> => queryRows(url, WITNESS)

export const witnessedWrites = (url: string): Promise<readonly WitnessedWrite[]> =>
  queryRows<WitnessedWrite>(url, 'SELECT what, writer, owner FROM drill_writes ORDER BY n')

export async function queryRows<Row extends object>(url: string, sql: string): Promise<readonly Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows ?? []
  } finally {
    await client.end()
  }
}
