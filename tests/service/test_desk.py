"""Who is asking."""

import pytest
from fastapi import HTTPException

from worthwhile.service.desk import user_by_token


def test_user_by_token(file_desk):
    token = file_desk.users.add("ana", "work")
    assert user_by_token(file_desk, "1.2.3.4", token).name == "ana"
    with pytest.raises(HTTPException) as caught:
        user_by_token(file_desk, "1.2.3.4", "else")
    assert caught.value.status_code == 401


@pytest.mark.parametrize("header", ["", "Basic abc", "Bearer", "Bearer,"])
def test_other_authorization(file_client, header):
    answer = file_client.get("/api/cases", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
