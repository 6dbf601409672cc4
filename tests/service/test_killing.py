"""Nothing that was acknowledged is lost when the server is killed at any moment."""

from clinic import write_model
from killing import kill_again_and_again
from worthwhile.service.database import open_database
from worthwhile.service.user_store import UserStore


def test_acknowledged_writes_survive(place, tmp_path):
    database = open_database(place)
    kills = 100 if database.is_sqlite else 10  # PostgreSQL is a server of its own, which nobody kills
    token = UserStore(database).add("ana", "work")
    database.close()
    report = kill_again_and_again(place, write_model(tmp_path), token, kills)
    assert (report.lost, report.problems) == ([], [])
    assert report.acknowledged >= kills
    assert report.retried > 0  # some requests were cut off
