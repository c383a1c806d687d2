"""A real browser for the tests of the page; they skip where there is none."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,1000")


class Browser:
    """Headless Chromium with one page open.

    Args:
        driver: Of selenium.
    """

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path) -> None:
        """Open a page from the disk and wait until it is ready."""
        from selenium.webdriver.support.ui import WebDriverWait

        self.messages(), self.requests()  # those of the page before
        self.driver.get(path.as_uri())
        WebDriverWait(self.driver, 60).until(lambda _: self.run("return document.body.dataset.ready === 'yes'"))

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        """Return the text of the first element that a selector names."""
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def click(self, selector: str) -> None:
        """Click the first element that a selector names."""
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def choose(self, selector: str, value: str) -> None:
        """Choose an entry of a list."""
        from selenium.webdriver.common.by import By
        from selenium.webdriver.support.ui import Select

        Select(self.driver.find_element(By.CSS_SELECTOR, selector)).select_by_value(value)

    def point_at(self, pane: int, node: int) -> None:
        """Move the pointer onto a node of a pane."""
        from selenium.webdriver.common.action_chains import ActionChains

        canvas = self.run("return ghrView.panes[arguments[0]].over", pane)
        place = "const p = ghrView.panes[arguments[0]], i = arguments[1]; return [p.x[i], p.y[i], ...p.size]"
        x, y, width, height = self.run(place, pane, node)
        self.run("arguments[0].scrollIntoView({block: 'center'})", canvas)
        ActionChains(self.driver).move_to_element_with_offset(
            canvas, round(x - width / 2), round(y - height / 2)
        ).perform()

    def press_pointer(self) -> None:
        """Click where the pointer is."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).click().perform()

    def press(self, key: str) -> None:
        """Press a key."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(key).perform()

    def messages(self) -> list[str]:
        """Return what the page said on the console since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for since the last time."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, the same for all tests."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install selenium.")
    paths = [shutil.which("chromium"), shutil.which("chromedriver")]
    if None in paths:
        pytest.skip("There is no Chromium to test pages in; on Debian: apt-get install chromium chromium-driver.")
    options = webdriver.ChromeOptions()
    options.binary_location = str(paths[0])
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    from selenium.webdriver.chrome.service import Service

    driver = webdriver.Chrome(options=options, service=Service(str(paths[1])))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
